// SPDX-License-Identifier: Apache-2.0
// The schedule of a counter-example.
#include <stdexcept>
#include <utility>

#include "first_misses.hpp"
#include "output_times.hpp"
#include "rclrt/analysis/counter_example.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis {
namespace {

/// The most instances that an untrusted file may request.
constexpr std::uint64_t kLongestReplay = 50'000'000;

}  // namespace

model::Application counter_example_application(model::Application application,
                                               const CounterExample& example) {
  const std::size_t count = application.callbacks.size();
  const std::size_t chains = example.limit == Limit::kDeadline
                                 ? application.chains.size()
                                 : application.cause_effect_chains.size();
  if (example.offsets_ns.size() != count || example.priorities.size() != count ||
      example.chain >= chains) {
    throw std::invalid_argument("the counter-example belongs to another application");
  }
  for (std::size_t i = 0; i < count; ++i) {
    application.callbacks[i].priority = example.priorities[i];
    if (auto* timer = std::get_if<model::Timer>(&application.callbacks[i].trigger)) {
      timer->offset = model::Nanoseconds(example.offsets_ns[i]);
    }
    if (auto* event = std::get_if<model::Event>(&application.callbacks[i].trigger)) {
      const std::int64_t offset_ns = example.offsets_ns[i];
      *event = example.extremes ? detail::at_extremes(*event, offset_ns, example.seed)
                                : detail::densest(*event, offset_ns);
    }
  }
  return application;
}

SimulatedTimes counter_example_times(const CounterExample& example) {
  const auto from_percent = [&](const Hop& range) {
    const std::int64_t lowest = (range.max - range.min) / 100 * example.lowest_delay_percent;
    const bool most = example.lowest_delay_percent == 100;
    return TimeDistribution::uniform(most ? range.max : range.min + lowest, range.max);
  };
  const Overheads& machine = example.overheads;
  return {.lowest_execution = example.lowest_execution_percent / 100.0,
          .extremes = example.extremes,
          .dispatch_ns = machine.dispatch,
          .scheduler_ns = machine.scheduler,
          .polling_ns = machine.polling,
          .lateness = from_percent({0, machine.timer_jitter}),
          .hop = from_percent(machine.near),
          .far_hop = from_percent(machine.far)};
}

std::optional<std::int64_t> replay(const model::Application& application,
                                   const CounterExample& example, InterruptCheck check_interrupt) {
  const model::Application changed = counter_example_application(application, example);
  const SimulatedSystem system =
      simulated_system(changed, example.executor, counter_example_times(example), example.cpus);
  double per_ns = 0;
  for (const double rate : application.rates()) {
    per_ns += rate / 1e9;
  }
  if (per_ns * static_cast<double>(example.horizon_ns) > static_cast<double>(kLongestReplay)) {
    throw std::invalid_argument("the counter-example takes more than 50 million instances");
  }
  const SimulationOptions options{.horizon_ns = example.horizon_ns,
                                  .warm_up_ns = example.warm_up_ns,
                                  .seed = example.seed,
                                  .max_instances = kLongestReplay,
                                  .check_interrupt = check_interrupt};
  if (example.never_runs) {
    detail::FirstMisses misses(system);
    simulate(system, options, &misses);
    return misses.has_run(*example.never_runs) || example.horizon_ns <= example.release_ns
               ? std::nullopt
               : std::optional(example.horizon_ns - example.release_ns);
  }
  if (example.limit != Limit::kDeadline) {
    detail::Outputs outputs(changed);
    const auto end_ns = simulate(system, options, &outputs).end_ns;
    const detail::OutputTimes times = outputs.times(end_ns).at(example.chain);
    const auto& worst = example.limit == Limit::kAge ? times.worst_age : times.worst_reaction;
    return worst ? std::optional(worst->length_ns()) : std::nullopt;
  }
  detail::InstanceEnd end(system, example.chain, example.instance);
  simulate(system, options, &end);
  return end.response_ns();
}

}  // namespace rclrt::analysis
