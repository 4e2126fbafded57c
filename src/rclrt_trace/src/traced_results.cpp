// SPDX-License-Identifier: Apache-2.0
#include "traced_results.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "joined_hosts.hpp"
#include "logged_runs.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/run_accounting.hpp"

namespace rclrt::trace {

namespace {

/// Sets the releases of rclcpp's timers, which have no event. `runs`: sorted by start. A timer's
/// grid is regular on the clock of its own host.
void add_releases(const TracedSystem& system, const HostClocks* clocks,
                  std::vector<TracedInstance>& runs) {
  std::vector<std::int64_t> before(system.callbacks().size(), INT64_MIN);
  for (TracedInstance& run : runs) {
    TracedCallback callback = system.callbacks()[run.callback];
    if (run.release_ns == 0 && callback.kind == TriggerKind::kTimer && callback.period_ns > 0) {
      const std::size_t host = system.processes()[static_cast<std::size_t>(callback.process)].host;
      const auto local = [&](std::int64_t time_ns) {
        return clocks == nullptr || time_ns == INT64_MIN ? time_ns
                                                         : clocks->local_ns(host, time_ns);
      };
      callback.created_ns = local(callback.created_ns);
      const std::int64_t release =
          rcl_release_ns(callback, local(before[run.callback]), local(run.start_ns));
      run.release_ns = clocks == nullptr ? release : clocks->common_ns(host, release);
      run.ready_ns = run.release_ns;
    }
    before[run.callback] = run.start_ns;
  }
}

/// Removes the chains with messages that arrive before they were sent on the common time axis: they
/// are not followed, and would count as lost.
void leave_out_early(model::Application& application, const recorder::HostTable& table,
                     const HostClocks& clocks, std::vector<std::string>& notes) {
  std::vector<std::size_t> early;
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    const std::vector<std::size_t>& callbacks = application.chains[i].callbacks;
    for (std::size_t at = 1; at < callbacks.size(); ++at) {
      if (clocks.are_early(table.of_callback[callbacks[at - 1]],
                           table.of_callback[callbacks[at]])) {
        early.push_back(i);
        notes.push_back("chain '" + application.chains[i].id +
                        "' is not measured, because messages between its hosts are not followed");
        break;
      }
    }
  }
  // The same between the segments of a cause-effect chain: a reader seems to take older data.
  std::erase_if(application.cause_effect_chains, [&](const model::CauseEffectChain& chain) {
    for (std::size_t at = 1; at < chain.segments.size(); ++at) {
      const std::size_t from = application.chains[chain.segments[at - 1].chain].callbacks.back();
      const std::size_t to = application.chains[chain.segments[at].chain].callbacks.front();
      if (clocks.are_early(table.of_callback[from], table.of_callback[to])) {
        notes.push_back("chain '" + chain.id +
                        "' is not measured, because messages between its hosts are not followed");
        return true;
      }
    }
    return false;
  });
  std::vector<std::string> segments;  // notes of the chains are above
  recorder::leave_out_chains(application, std::move(early), segments);
}

/// Notes the hosts that were not traced all the time.
void note_spans(const recorder::RunResults& results, std::vector<std::string>& notes) {
  constexpr std::int64_t kNoted_ns = 10'000'000;
  const auto seconds = [&](std::int64_t time_ns) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f s",
                  static_cast<double>(time_ns - results.window.start_ns) / 1e9);
    return std::string(text.data());
  };
  for (const recorder::HostTimes& host : results.hosts.hosts) {
    const std::int64_t first_ns = std::max(host.traced.start_ns, results.window.start_ns);
    const std::int64_t last_ns = std::min(host.traced.end_ns, results.window.end_ns);
    if (first_ns - results.window.start_ns > kNoted_ns ||
        results.window.end_ns - last_ns > kNoted_ns) {
      notes.push_back("'" + host.name + "' has events from " + seconds(first_ns) + " to " +
                      seconds(last_ns) + " of " + seconds(results.window.end_ns) +
                      ": chains with a callback on it are judged only for that time");
    }
  }
}

/// Returns the release of each instance on the clock of its own host.
std::vector<std::int64_t> local_releases(const recorder::RunResults& results,
                                         const std::vector<recorder::LoggedInstance>& instances,
                                         const HostClocks& clocks) {
  std::vector<std::int64_t> result;
  for (const recorder::LoggedInstance& each : instances) {
    const std::size_t callback = each.record.callback;
    const bool is_timer =
        results.application.callbacks[callback].kind() == model::CallbackKind::kTimer;
    result.push_back(
        is_timer ? clocks.local_ns(results.hosts.of_callback[callback], each.record.release_ns)
                 : each.record.release_ns);
  }
  return result;
}

/// Sets the time at which a run read the newest message of a run that also stores a value: to when
/// that run stored it. A run has one such time, and the message may be taken before it.
void read_after_stores(const std::vector<TracedInstance>& runs,
                       std::vector<recorder::LoggedInstance>& instances,
                       const std::vector<std::pair<std::size_t, std::size_t>>& sampling) {
  // The runs that stored a value and published, by callback, thread and start.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, const TracedInstance*> writers;
  for (const TracedInstance& each : runs) {
    if (each.stored_ns != 0 && each.first_publication_ns != 0) {
      writers[{each.callback, each.thread, each.start_ns}] = &each;
    }
  }
  for (const auto& [run, logged] : sampling) {
    const TracedInstance& reader = runs[run];
    const auto after =
        writers.upper_bound({reader.sampled_from, reader.sampled_thread, reader.sampled_ns});
    if (after == writers.begin()) {
      continue;
    }
    const TracedInstance& writer = *std::prev(after)->second;
    if (writer.callback == reader.sampled_from && writer.thread == reader.sampled_thread &&
        writer.end_ns >= reader.sampled_ns) {
      std::int64_t& read_ns = instances[logged].record.read_ns;
      read_ns = std::max(read_ns, writer.stored_ns);
    }
  }
}

/// Removes the hops to callbacks of which the trace does not show when a message was ready: only
/// rclrt's own events do.
void leave_out_unknown_hops(const TracedSystem& system, const TracedModel& model,
                            recorder::RunResults& results) {
  std::vector<bool> is_known(results.application.callbacks.size(), false);
  for (const TracedInstance& each : system.instances()) {
    const std::uint32_t callback = model.callback_of[each.callback];
    if (callback != kNone && each.ready_ns != 0) {
      is_known[callback] = true;
    }
  }
  std::erase_if(results.hops, [&](const recorder::HopResult& hop) { return !is_known[hop.to]; });
}

}  // namespace

recorder::RunResults trace_results(const TracedSystem& system, TracedModel model,
                                   const model::ExecutorChoice& executor, const ReadCounts& counts,
                                   std::vector<std::string>& notes, const HostClocks* clocks) {
  recorder::RunResults results = begin_results(model, executor, counts, notes);
  if (clocks != nullptr) {
    results.hosts = host_table(*clocks, system, model);
    leave_out_early(results.application, results.hosts, *clocks, notes);
    model.application = results.application;
  }
  std::vector<recorder::LoggedInstance> instances;
  std::int64_t first_ns = INT64_MAX;
  std::vector<TracedInstance> runs = system.instances();
  const std::vector<bool> sampled = are_sampled(results.application);
  std::ranges::sort(runs, {}, &TracedInstance::start_ns);
  add_releases(system, clocks, runs);
  std::vector<std::pair<std::size_t, std::size_t>> sampling;  // in runs, in instances
  for (const TracedInstance& each : runs) {
    if (model.callback_of[each.callback] != kNone) {
      if (each.sampled_from != kNone) {
        sampling.emplace_back(&each - runs.data(), instances.size());
      }
      instances.push_back(logged(system.callbacks()[each.callback], model, each));
      recorder::InstanceRecord& record = instances.back().record;
      if (record.stored_ns == 0 && sampled[record.callback]) {
        record.stored_ns = each.first_publication_ns;
      }
      first_ns = std::min(first_ns, instances.back().record.release_ns);
    }
  }
  read_after_stores(runs, instances, sampling);
  results.window = {first_ns, system.last_ns()};
  std::vector<bool> going_on(results.application.callbacks.size(), false);
  for (const recorder::LoggedInstance& each : instances) {
    ++results.callback_counts[each.record.callback].released;
    ++results.callback_counts[each.record.callback].completed;
  }
  results.cpu_parts = system.cpu_parts();
  std::vector<std::int64_t> releases;
  if (clocks != nullptr) {
    for (std::size_t i = 0; i < results.hosts.hosts.size(); ++i) {
      results.hosts.hosts[i].cpus = std::max<std::size_t>(counts.cpus_of[i], 1);
    }
    note_spans(results, notes);
    releases = local_releases(results, instances, *clocks);
  }
  recorder::follow_chains(results.application, results.window, instances, going_on, releases);
  std::uint64_t id = 0;
  for (recorder::LoggedInstance& each : instances) {
    each.record.id = ++id;
  }
  recorder::account(results, std::move(instances), std::max<std::size_t>(counts.cpus, 1));
  recorder::judge_over_hosts(results);
  if (clocks != nullptr) {
    leave_out_unknown_hops(system, model, results);
  }
  return results;
}

}  // namespace rclrt::trace
