// SPDX-License-Identifier: Apache-2.0
/// The simulator on ten periodic tasks.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

/// Ten timers of 1 to 12 ms, each of a level and with a load of 0.07: together 0.7.
SimulatedSystem ten_tasks() {
  constexpr std::int64_t kPeriods_ms[] = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12};
  SimulatedSystem system;
  system.executors.emplace_back();
  int level = 10;
  for (const std::int64_t period_ms : kPeriods_ms) {
    SimulatedCallback task;
    task.level = level--;
    task.execution = TimeDistribution::constant(period_ms * 70'000);
    task.trigger = TimerTrigger{.period_ns = period_ms * 1'000'000};
    system.callbacks.push_back(task);
  }
  return system;
}

/// Target: under 200 ms, within 100 MB.
void simulation_of_a_million_jobs_of_ten_tasks(benchmark::State& state) {
  constexpr std::uint64_t kJobs = 1'000'000;
  constexpr std::int64_t kHorizon_ns = 1'000'000'000'000;
  const auto system = ten_tasks();
  for (auto _ : state) {
    const auto result = simulate(system, {.horizon_ns = kHorizon_ns, .max_instances = kJobs});
    if (result.instances != kJobs) {
      state.SkipWithError("the simulation reached its horizon before the last job");
    }
  }
}
BENCHMARK(simulation_of_a_million_jobs_of_ten_tasks)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rclrt::analysis
