// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/run_accounting.hpp"

#include <algorithm>
#include <utility>

#include "chain_releases.hpp"
#include "display_tracks.hpp"
#include "miss_explainer.hpp"
#include "rclrt/recorder/machine_context.hpp"

namespace rclrt::recorder {

namespace {

/// Adds the releases between those of a timer that were observed, by their numbers: a timer on
/// another host is regular on its own clock only. A gap is shared out evenly.
void fill_gaps(std::vector<ChainRelease>& releases) {
  std::ranges::sort(releases, {}, &ChainRelease::instance);
  const std::size_t observed = releases.size();
  for (std::size_t i = 1; i < observed; ++i) {
    const ChainRelease before = releases[i - 1];
    const ChainRelease after = releases[i];
    const auto steps = static_cast<std::int64_t>(after.instance - before.instance);
    for (std::int64_t step = 1; step < steps; ++step) {
      const std::int64_t part = (after.release_ns - before.release_ns) / steps * step;
      releases.push_back(
          {before.instance + static_cast<std::uint64_t>(step), before.release_ns + part});
    }
  }
}

/// Returns for each chain the time in which it can be judged; nothing for one host.
std::vector<RunWindow> windows_of(const RunResults& results) {
  std::vector<RunWindow> windows;
  for (const model::Chain& chain : results.application.chains) {
    if (!results.hosts.hosts.empty()) {
      windows.push_back(results.hosts.window_of(chain.callbacks, results.window));
    }
  }
  return windows;
}

/// Returns the cause-effect chains of a run over several hosts. A reaction is awaited only as long
/// as all hosts of its chain were recorded.
std::vector<CauseEffectResult> cause_effect_over_hosts(
    const RunResults& results, std::span<const std::vector<ChainRelease>> releases) {
  const model::Application& application = results.application;
  std::vector<CauseEffectResult> found;
  for (std::size_t i = 0; i < application.cause_effect_chains.size(); ++i) {
    RunWindow window = results.window;
    for (const model::Segment& segment : application.cause_effect_chains[i].segments) {
      window = results.hosts.window_of(application.chains[segment.chain].callbacks, window);
    }
    auto of_window = account_cause_effect_chains(application, window, releases, results.records);
    found.push_back(std::move(of_window[i]));
  }
  return found;
}

/// Returns how far the release of an instance may be from the truth: it may be the publication of
/// its message on another host.
std::int64_t release_error_ns(const HostTable& hosts, const LoggedInstance& instance) {
  const InstanceRecord& record = instance.record;
  if (instance.published_ns == 0 || record.release_ns != instance.published_ns) {
    return hosts.error_ns(record.callback, record.release_ns);
  }
  if (instance.publisher != LoggedInstance::kNobody) {
    return hosts.error_ns(instance.publisher, record.release_ns);
  }
  std::int64_t worst = 0;  // its publisher may be on any host
  for (std::size_t i = 0; i < hosts.of_callback.size(); ++i) {
    worst = std::max(worst, hosts.error_ns(i, record.release_ns));
  }
  return worst;
}

/// Sets the errors of the times of callbacks. Those of chains and hops come from the chains.
void account_errors(RunResults& results, const std::vector<LoggedInstance>& instances) {
  HostTable& hosts = results.hosts;
  for (const LoggedInstance& each : instances) {
    const InstanceRecord& record = each.record;
    hosts.release_errors_ns.push_back(release_error_ns(hosts, each));
    const bool is_own = each.published_ns == 0 || record.release_ns != each.published_ns;
    const bool is_known = is_own || each.publisher != LoggedInstance::kNobody;
    std::int64_t& error_ns = results.callbacks[record.callback].error_ns;
    for (const std::int64_t to_ns : {record.start_ns, record.end_ns}) {
      const std::int64_t of_time_ns =
          is_known ? hosts.error_between_ns(is_own ? record.callback : each.publisher,
                                            record.release_ns, record.callback, to_ns)
                   : hosts.release_errors_ns.back() + hosts.error_ns(record.callback, to_ns);
      error_ns = std::max(error_ns, of_time_ns);
    }
  }
}

/// Returns for each chain every release of the window, also those that never ran.
std::vector<std::vector<ChainRelease>> releases_of(const model::Application& application,
                                                   const RunWindow& window,
                                                   const std::vector<InstanceRecord>& records,
                                                   const HostTable& hosts) {
  std::vector<std::vector<ChainRelease>> result(application.chains.size());
  for (std::size_t chain = 0; chain < application.chains.size(); ++chain) {
    ChainReleases releases(application, chain, window.start_ns);
    while (const auto release = releases.next_before(window.end_ns)) {
      result[chain].push_back(*release);
    }
    if (!releases.are_observed()) {
      continue;
    }
    const std::size_t first = application.chains[chain].callbacks.front();
    for (const InstanceRecord& record : records) {
      for (const ChainToken& token : record.tokens.all()) {
        if (record.callback == first && token.chain == chain && token.release_ns < window.end_ns) {
          result[chain].push_back({token.instance, token.release_ns});
        }
      }
    }
    if (!hosts.hosts.empty()) {
      fill_gaps(result[chain]);
    }
  }
  return result;
}

}  // namespace

RunContext read_context(const std::vector<RealtimeState>& executors,
                        std::optional<double> steal_before_ms) {
  RunContext context;
  context.machine = read_machine_context();
  context.realtime = true;
  for (const RealtimeState& executor : executors) {
    if (!executor.granted || context.realtime_reason.empty()) {
      context.realtime_reason = executor.reason;
    }
    context.realtime = context.realtime && executor.granted;
    context.runs_to_completion = context.runs_to_completion || executor.runs_to_completion;
  }
  context.memory_locked = memory_is_locked();
  context.ros_distro = ros_distro();
  const auto steal_after_ms = read_steal_ms();
  // The counter may go back, for example when a virtual machine moves to another host.
  context.steal_ms =
      steal_before_ms && steal_after_ms ? std::max(0.0, *steal_after_ms - *steal_before_ms) : 0;
  return context;
}

void account(RunResults& results, std::vector<LoggedInstance> instances, std::size_t cpus) {
  const model::Application& application = results.application;
  results.thread_tracks = name_tracks(results, instances);
  for (const LoggedInstance& instance : instances) {
    results.records.push_back(instance.record);
  }
  results.hops = account_hops(instances, results.hosts);
  const auto releases = releases_of(application, results.window, results.records, results.hosts);
  results.chains = account_chains(application, results.window, releases, results.records,
                                  results.host_stalls.attributable(), windows_of(results));
  results.cause_effect_chains =
      results.hosts.hosts.empty()
          ? account_cause_effect_chains(application, results.window, releases, results.records)
          : cause_effect_over_hosts(results, releases);
  results.callbacks =
      account_callbacks(application.callbacks.size(), results.records, results.cpu_parts);
  if (!results.hosts.hosts.empty()) {
    account_errors(results, instances);
  }
  results.misses = MissExplainer(results, cpus).explain(results.chains, results.records);
}

}  // namespace rclrt::recorder
