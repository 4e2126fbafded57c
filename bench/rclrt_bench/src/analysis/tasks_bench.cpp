// SPDX-License-Identifier: Apache-2.0
/// Response times of random task sets: UUniFast loads, log-uniform periods of 1 ms to 1 s.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "rclrt/analysis/edf.hpp"
#include "rclrt/analysis/fixed_priority.hpp"

namespace rclrt::analysis {
namespace {

/// Draws `count` tasks with utilisations that sum up to `load`, each combination as likely as any
/// other (UUniFast: Bini and Buttazzo, "Measuring the performance of schedulability tests",
/// Real-Time Systems 30, 2005). Times are in ns, priorities rate monotonic.
std::vector<Task> random_tasks(std::mt19937_64& random, std::size_t count, double load) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Task> tasks(count);
  double left = load;
  for (std::size_t i = 0; i < count; ++i) {
    const auto others = static_cast<double>(count - i - 1);
    const double rest = others > 0 ? left * std::pow(unit(random), 1 / others) : 0;
    const double period = 1e6 * std::pow(1000.0, unit(random));
    tasks[i].period = static_cast<Ticks>(period);
    tasks[i].wcet = std::max<Ticks>(1, static_cast<Ticks>((left - rest) * period));
    tasks[i].deadline = tasks[i].period;
    left = rest;
  }
  std::ranges::sort(tasks, {}, &Task::period);
  for (std::size_t i = 0; i < count; ++i) {
    tasks[i].priority = static_cast<int>(count - i);
  }
  return tasks;
}

std::vector<std::vector<Task>> random_sets(std::size_t sets, std::size_t count, double load) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same sets each time
  std::vector<std::vector<Task>> result;
  for (std::size_t i = 0; i < sets; ++i) {
    result.push_back(random_tasks(random, count, load));
  }
  return result;
}

/// Target: under 100 ms.
void thousand_sets_of_hundred_tasks(benchmark::State& state) {
  const auto sets = random_sets(1000, 100, 0.7);
  for (auto _ : state) {
    for (const auto& set : sets) {
      benchmark::DoNotOptimize(fixed_priority_preemptive(set));
    }
  }
}
BENCHMARK(thousand_sets_of_hundred_tasks)->Unit(benchmark::kMillisecond);

/// Target: under 10 ms.
void one_set_of_thousand_tasks(benchmark::State& state) {
  const auto sets = random_sets(1, 1000, 0.7);
  for (auto _ : state) {
    benchmark::DoNotOptimize(fixed_priority_preemptive(sets.front()));
  }
}
BENCHMARK(one_set_of_thousand_tasks)->Unit(benchmark::kMillisecond);

void edf_demand_of_thousand_tasks(benchmark::State& state) {
  const auto sets = random_sets(1, 1000, 0.9);
  for (auto _ : state) {
    benchmark::DoNotOptimize(edf_demand_test(sets.front()));
  }
}
BENCHMARK(edf_demand_of_thousand_tasks)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rclrt::analysis
