// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/run_accounting.hpp"

#include <utility>

#include "chain_releases.hpp"
#include "display_tracks.hpp"
#include "miss_explainer.hpp"
#include "rclrt/recorder/machine_context.hpp"

namespace rclrt::recorder {

namespace {

/// Returns for each chain every release of the window, also those that never ran.
std::vector<std::vector<ChainRelease>> releases_of(const model::Application& application,
                                                   const RunWindow& window,
                                                   const std::vector<InstanceRecord>& records) {
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
  context.steal_ms = steal_before_ms && steal_after_ms ? *steal_after_ms - *steal_before_ms : 0;
  return context;
}

void account(RunResults& results, std::vector<LoggedInstance> instances, std::size_t cpus) {
  const model::Application& application = results.application;
  results.thread_tracks = name_tracks(results, instances);
  for (const LoggedInstance& instance : instances) {
    results.records.push_back(instance.record);
  }
  results.hops = account_hops(instances, results.hosts);
  const auto releases = releases_of(application, results.window, results.records);
  results.chains = account_chains(application, results.window, releases, results.records,
                                  results.host_stalls.attributable());
  results.cause_effect_chains =
      account_cause_effect_chains(application, results.window, releases, results.records);
  results.callbacks =
      account_callbacks(application.callbacks.size(), results.records, results.cpu_parts);
  results.misses = MissExplainer(results, cpus).explain(results.chains, results.records);
}

}  // namespace rclrt::recorder
