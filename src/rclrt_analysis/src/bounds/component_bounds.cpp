// SPDX-License-Identifier: Apache-2.0
#include "bounds/component_bounds.hpp"

#include <algorithm>
#include <set>

#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Returns the workload of a single CPU that stands for all CPUs of the component.
Workload as_on_one_cpu(const model::Application& application, const Cores& cores,
                       std::size_t component, const Overheads& overheads,
                       Workload::EventLimits limits) {
  Workload result(application, overheads, Workload::Order::kAny, false, limits);
  for (std::size_t from = 0; from < result.wcet.size(); ++from) {
    Ticks longest = 0;
    for (const std::size_t to : result.graph.successors[from]) {
      const bool near = cores.executor_of[from] == cores.executor_of[to];
      longest = std::max(longest, near ? overheads.near.max : overheads.far.max);
    }
    result.wcet[from] = std::min(sum(result.wcet[from], longest), kMaxTicks);
  }
  Ticks executors = 0;
  std::set<std::size_t> cpus;
  for (std::size_t executor = 0; executor < cores.component.size(); ++executor) {
    if (cores.component[executor] == component) {
      ++executors;
      cpus.insert(cores.core_of[executor]);
    }
  }
  result.first_poll = product(result.first_poll, executors);
  result.background = product(result.background, static_cast<Ticks>(cpus.size()));
  result.stall = product(result.stall, static_cast<Ticks>(cpus.size()));
  return result;
}

/// Returns the component's timers, as indices into Workload::timers.
std::vector<std::size_t> timers_of(const Workload& workload, const Cores& cores,
                                   std::size_t component) {
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < workload.timers.size(); ++k) {
    if (cores.component[cores.executor_of[workload.timers[k]]] == component) {
      result.push_back(k);
    }
  }
  return result;
}

}  // namespace

ComponentBounds::ComponentBounds(const model::Application& application, const Cores& cores,
                                 std::size_t component, const Overheads& overheads, Effort effort,
                                 bool in_turn, Workload::EventLimits limits)
    : workload_(as_on_one_cpu(application, cores, component, overheads, limits)),
      bounds_(workload_, timers_of(workload_, cores, component), overheads.timer_jitter, effort,
              in_turn) {}

}  // namespace rclrt::analysis::detail
