// SPDX-License-Identifier: Apache-2.0
#include "simulation_results.hpp"

#include <map>
#include <rclrt/analysis/simulation.hpp>
#include <string>
#include <utility>
#include <vector>

#include "run_accounting.hpp"
#include "token_rules.hpp"

namespace rclrt::runner {

namespace {

Outcome outcome_of(analysis::SimulatedOutcome outcome) {
  switch (outcome) {
    case analysis::SimulatedOutcome::kBuffered:
      return Outcome::kBuffered;
    case analysis::SimulatedOutcome::kEmpty:
      return Outcome::kEmpty;
    case analysis::SimulatedOutcome::kRan:
      break;
  }
  return Outcome::kRan;
}

/// Keeps every instance, as InstanceLog does in a real run.
class Recorder final : public analysis::SimulationObserver {
 public:
  explicit Recorder(const analysis::SimulatedSystem& system) : system_(system) {}

  void ended(const analysis::SimulatedInstance& instance) override {
    LoggedInstance& logged = instances.emplace_back();
    logged.executor = static_cast<std::uint32_t>(system_.callbacks[instance.callback].executor);
    logged.slot = instance.slot;
    InstanceRecord& record = logged.record;
    record.id = instance.id;
    record.callback = static_cast<std::uint32_t>(instance.callback);
    record.level = instance.level;
    record.release_ns = instance.release_ns;
    record.ready_ns = instance.ready_ns;
    record.start_ns = instance.start_ns;
    record.end_ns = instance.end_ns;
    record.cpu_ns = instance.cpu_ns;
    record.preemptions = instance.preemptions;
    record.outcome = outcome_of(instance.outcome);
    for (const analysis::SimulatedToken& token : instance.tokens) {
      record.tokens.add({token.chain, token.instance, token.release_ns});
    }
  }

  std::vector<LoggedInstance> instances;

 private:
  const analysis::SimulatedSystem& system_;
};

RunContext simulated_context(const analysis::SimulatedSystem& system) {
  RunContext context;
  context.machine = {.kernel = "simulated",
                     .cpus = static_cast<int>(system.cpus),
                     .cpu_model = "simulated",
                     .preempt_rt = false};
  context.realtime = true;
  context.realtime_reason = "simulated";
  context.rmw = "none";
  context.ros_distro = "none";
  context.versions = {{"rclrt", RCLRT_VERSION}};
  return context;
}

}  // namespace

RunResults simulate_run(const model::Application& application, const SimulationSettings& settings) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    TokenRules(application, i);  // throws when a record has no room for its chains
  }
  const auto system =
      analysis::simulated_system(application, settings.executor, settings.times, settings.cpus);
  Recorder recorder(system);
  const auto simulation = analysis::simulate(
      system, {.horizon_ns = settings.duration.count(), .seed = settings.seed}, &recorder);

  RunResults results;
  results.application = application;
  results.executor = to_string(settings.executor);
  results.executor_label = "simulated: " + label_of(results.executor);
  results.started_utc = "1970-01-01T00:00:00Z";
  results.window = {0, settings.duration.count()};
  results.simulation = SimulationStatement{.seed = settings.seed,
                                           .lowest_execution = settings.times.lowest_execution};
  results.context = simulated_context(system);
  results.host_stalls.valid = true;  // there is no host to stall
  results.thread_tracks = name_tracks(
      application, settings.executor != analysis::Semantics::kWaitSet, recorder.instances);
  for (const LoggedInstance& instance : recorder.instances) {
    results.records.push_back(instance.record);
  }
  results.chains = account_chains(application, results.window,
                                  releases_of(application, results.window, results.records),
                                  results.records, results.host_stalls.attributable());
  results.callbacks = account_callbacks(application.callbacks.size(), results.records);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& [counts, response, late] = simulation.callbacks[i];
    const std::uint64_t lost = application.callbacks[i].deadline ? counts.dropped : 0;
    results.callback_counts.push_back(
        {counts.released, counts.completed, counts.dropped, late + lost});
  }
  results.os_priorities.resize(application.callbacks.size());
  settle_misses(results, settings.cpus);
  return results;
}

}  // namespace rclrt::runner
