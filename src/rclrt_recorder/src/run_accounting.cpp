// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/run_accounting.hpp"

#include <map>
#include <rclrt/model/event_times.hpp>
#include <rclrt/model/relative_deadline.hpp>
#include <tuple>
#include <utility>
#include <variant>

#include "rclrt/recorder/machine_context.hpp"

namespace rclrt::recorder {

namespace {

/// Returns for each chain every release of the window, also those that never ran.
std::vector<std::vector<ChainRelease>> releases_of(const model::Application& application,
                                                   const RunWindow& window,
                                                   const std::vector<InstanceRecord>& records) {
  std::vector<std::vector<ChainRelease>> result(application.chains.size());
  for (std::size_t chain = 0; chain < application.chains.size(); ++chain) {
    const std::size_t first = application.chains[chain].callbacks.front();
    if (const auto* event = std::get_if<model::Event>(&application.callbacks[first].trigger)) {
      model::EventTimes times(*event, application.callbacks[first].id);
      const std::int64_t length = window.end_ns - window.start_ns;
      for (std::int64_t since = times.next().count(); since < length;
           since = times.next().count()) {
        result[chain].push_back({result[chain].size(), window.start_ns + since});
      }
      continue;
    }
    const auto& timer = std::get<model::Timer>(application.callbacks[first].trigger);
    if (timer.overrun == model::OverrunPolicy::kRebase) {
      // Its releases are the observed ones; none is ever skipped.
      for (const InstanceRecord& record : records) {
        for (const ChainToken& token : record.tokens.all()) {
          if (record.callback == first && token.chain == chain &&
              token.release_ns < window.end_ns) {
            result[chain].push_back({token.instance, token.release_ns});
          }
        }
      }
      continue;
    }
    std::int64_t release = window.start_ns + timer.offset.count();
    for (std::uint64_t instance = 0; release < window.end_ns;
         ++instance, release += timer.period.count()) {
      result[chain].push_back({instance, release});
    }
  }
  return result;
}

/// Numbers the display tracks and sets them in the records. Returns their names.
std::vector<std::string> name_tracks(const model::Application& application, bool levels,
                                     std::vector<LoggedInstance>& instances) {
  using Key = std::tuple<std::uint32_t, std::int32_t, std::uint32_t>;
  const auto key_of = [levels](const LoggedInstance& instance) {
    return Key{instance.executor, levels ? -instance.record.level : 0, instance.slot};
  };
  std::map<Key, std::uint32_t> tracks;
  for (const LoggedInstance& instance : instances) {
    tracks.emplace(key_of(instance), 0);
  }
  std::vector<std::string> names;
  for (auto& [key, track] : tracks) {
    const auto& [executor, level, slot] = key;
    track = static_cast<std::uint32_t>(names.size());
    names.push_back(application.executors[executor].name +
                    (levels ? " L" + std::to_string(-level) : "") + " #" + std::to_string(slot));
  }
  for (LoggedInstance& instance : instances) {
    instance.record.thread_track = tracks.at(key_of(instance));
  }
  return names;
}

/// Returns the deadlines by which EDF orders instances; see EdfExecutor.
std::vector<std::int64_t> relative_deadlines(const model::Application& application) {
  std::vector<std::int64_t> result;
  for (const model::Callback& callback : application.callbacks) {
    constexpr model::Nanoseconds kNone{INT64_MAX / 2};
    result.push_back(model::relative_deadline(callback).value_or(kNone).count());
  }
  return result;
}

/// Returns for each callback the priority of its thread, compared over all executors: as observed,
/// or as the application states it. Under edf the priority of a thread does not show which callback
/// is more urgent, so the result is the callback's own priority.
std::vector<int> thread_priorities(const RunResults& results) {
  const model::Application& application = results.application;
  const model::ExecutorKind kind = results.executor.kind;
  std::vector<int> result = traits(kind).by_deadline ? thread_levels(application, kind)
                                                     : kernel_priorities(application, kind);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = results.kernel_priorities[i].value_or(result[i]);
  }
  return result;
}

/// Explains the worst misses of each chain.
void explain_worst_misses(RunResults& results, std::size_t cpus) {
  constexpr std::size_t kMissesPerChain = 10;
  const model::ExecutorTraits& kind = traits(results.executor);
  const std::vector<int> priorities = thread_priorities(results);
  std::vector<std::int64_t> deadlines;
  if (kind.by_deadline) {
    deadlines = relative_deadlines(results.application);
    cpus = 1;
  }
  results.misses =
      explain_misses({.application = results.application,
                      .chains = results.chains,
                      .records = results.records,
                      .priorities = priorities,
                      .cpus = cpus,
                      .threads = kind.one_at_a_time ? results.executor.max_threads() : 0,
                      .deadlines = deadlines},
                     kMissesPerChain);
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
  context.steal_ms = steal_before_ms && steal_after_ms ? *steal_after_ms - *steal_before_ms : 0;
  return context;
}

void account(RunResults& results, std::vector<LoggedInstance> instances, std::size_t cpus) {
  const model::Application& application = results.application;
  // Otherwise a slot is a thread for callbacks of any priority.
  const model::ExecutorThreads threads = traits(results.executor).threads;
  const bool levels = (threads == model::ExecutorThreads::kPerLevel ||
                       threads == model::ExecutorThreads::kPerInstance) &&
                      !results.context.runs_to_completion;
  results.thread_tracks = name_tracks(application, levels, instances);
  for (const LoggedInstance& instance : instances) {
    results.records.push_back(instance.record);
  }
  results.hops = account_hops(instances);
  const auto releases = releases_of(application, results.window, results.records);
  results.chains = account_chains(application, results.window, releases, results.records,
                                  results.host_stalls.attributable());
  results.cause_effect_chains =
      account_cause_effect_chains(application, results.window, releases, results.records);
  results.callbacks =
      account_callbacks(application.callbacks.size(), results.records, results.cpu_parts);
  explain_worst_misses(results, cpus);
}

}  // namespace rclrt::recorder
