// SPDX-License-Identifier: Apache-2.0
#include "simulation_results.hpp"

#include <map>
#include <rclrt/analysis/simulation.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rclrt/recorder/run_stream.hpp"
#include "rclrt/recorder/token_rules.hpp"

namespace rclrt::simulator {

namespace {

recorder::Outcome outcome_of(analysis::SimulatedOutcome outcome) {
  switch (outcome) {
    case analysis::SimulatedOutcome::kBuffered:
      return recorder::Outcome::kBuffered;
    case analysis::SimulatedOutcome::kEmpty:
      return recorder::Outcome::kEmpty;
    case analysis::SimulatedOutcome::kRan:
      break;
  }
  return recorder::Outcome::kRan;
}

/// Passes every instance to the stream, as InstanceLog does in a real run. Keeps the parts of
/// interrupted ones, unless the results are streamed.
class Kept final : public analysis::SimulationObserver {
 public:
  Kept(const analysis::SimulatedSystem& system, recorder::RunStream& stream)
      : system_(system), stream_(stream) {}

  void ran(const analysis::SimulatedInterval& interval) override {
    std::vector<recorder::CpuPart>& own = running_[interval.instance];
    const auto cpu = static_cast<std::int32_t>(interval.cpu);
    if (!own.empty() && own.back().cpu == cpu && own.back().end_ns == interval.from_ns) {
      own.back().end_ns = interval.to_ns;
    } else {
      own.push_back({.cpu = cpu, .start_ns = interval.from_ns, .end_ns = interval.to_ns});
    }
  }

  void ended(const analysis::SimulatedInstance& instance) override {
    recorder::LoggedInstance& logged = waiting_.emplace_back();
    logged.executor = static_cast<std::uint32_t>(system_.callbacks[instance.callback].executor);
    logged.slot = instance.slot;
    recorder::InstanceRecord& record = logged.record;
    record.id = instance.id;
    record.callback = static_cast<std::uint32_t>(instance.callback);
    record.level = instance.level;
    record.release_ns = instance.release_ns;
    record.ready_ns = instance.ready_ns;
    record.start_ns = instance.start_ns;
    record.end_ns = instance.end_ns;
    record.cpu_ns = instance.cpu_ns;
    record.preemptions = instance.preemptions;
    record.first_cpu = record.last_cpu = static_cast<std::int32_t>(instance.cpu);
    add_parts(record);
    record.outcome = outcome_of(instance.outcome);
    record.input = instance.input;
    record.stamp_ns = instance.stamp_ns;
    for (const analysis::SimulatedToken& token : instance.tokens) {
      record.tokens.add({token.chain, token.instance, token.release_ns});
    }
    if (waiting_.size() == kPortion) {
      pass_on();
    }
  }

  /// Passes on the rest.
  void pass_on() {
    stream_.add(waiting_);
    waiting_.clear();
  }

  std::vector<recorder::CpuPart> parts;

 private:
  /// Moves the parts of an instance that has ended to `parts`, if there is more than one.
  void add_parts(recorder::InstanceRecord& record) {
    const auto own = running_.find(record.id);
    if (own == running_.end()) {
      return;  // it took no time
    }
    record.first_cpu = own->second.front().cpu;
    if (own->second.size() > 1 && !stream_.streams()) {
      record.first_part = parts.size();
      record.part_count = static_cast<std::uint32_t>(own->second.size());
      parts.insert(parts.end(), own->second.begin(), own->second.end());
    }
    running_.erase(own);
  }

  static constexpr std::size_t kPortion = 512;

  const analysis::SimulatedSystem& system_;
  recorder::RunStream& stream_;
  std::vector<recorder::LoggedInstance> waiting_;
  std::unordered_map<std::uint64_t, std::vector<recorder::CpuPart>> running_;  // by instance
};

recorder::RunContext simulated_context(const analysis::SimulatedSystem& system) {
  recorder::RunContext context;
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

recorder::RunResults simulate_run(const model::Application& application,
                                  const SimulationSettings& settings) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    recorder::TokenRules(application, i);  // throws if a record has no room for its chains
  }
  const auto system =
      analysis::simulated_system(application, settings.executor, settings.times, settings.cpus);
  recorder::RunResults results;
  results.application = application;
  results.executor = settings.executor;
  results.executor_label = "simulated: " + label_of(results.executor);
  results.started_utc = "1970-01-01T00:00:00Z";
  results.window = {0, settings.duration.count()};
  results.simulation =
      recorder::SimulationStatement{.seed = settings.seed,
                                    .lowest_execution = settings.times.lowest_execution,
                                    .replayed = settings.replayed};
  results.context = simulated_context(system);
  results.host_stalls.valid = true;  // there is no host that could stall
  results.kernel_priorities.resize(application.callbacks.size());
  const recorder::RunResults frame = results;
  // It does not go over to streaming in the middle: the parts of the first instances would be lost.
  recorder::RunStream stream(frame, settings.cpus, {.keep_all = SIZE_MAX});
  if (recorder::expected_instances(application, settings.duration) > settings.keep_all) {
    stream.stream();
  }
  Kept kept(system, stream);
  const auto simulation = analysis::simulate(system,
                                             {.horizon_ns = settings.duration.count(),
                                              .warm_up_ns = settings.warm_up.count(),
                                              .seed = settings.seed},
                                             &kept);
  kept.pass_on();
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& [counts, response, late] = simulation.callbacks[i];
    const std::uint64_t lost = application.callbacks[i].deadline ? counts.dropped : 0;
    results.callback_counts.push_back(
        {counts.released, counts.completed, counts.dropped, late + lost});
  }
  results.cpu_parts = std::move(kept.parts);
  stream.finish(results);
  return results;
}

}  // namespace rclrt::simulator
