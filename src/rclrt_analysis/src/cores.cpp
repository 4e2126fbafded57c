// SPDX-License-Identifier: Apache-2.0
#include "cores.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace rclrt::analysis::detail {

Cores::Cores(const model::Application& application, const CallbackGraph& graph)
    : core_of(application.executors.size()), component(application.executors.size()) {
  std::map<int, std::size_t> by_cpu;
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    const auto& cpus = application.executors[i].cpus;
    core_of[i] = cores.size();
    if (cpus.size() == 1) {
      core_of[i] = by_cpu.try_emplace(cpus.front(), cores.size()).first->second;
    }
    if (core_of[i] == cores.size()) {
      cores.emplace_back();
    }
    cores[core_of[i]].executors.push_back(i);
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    executor_of.push_back(application.nodes[application.callbacks[i].node].executor);
    cores[core_of[executor_of[i]]].callbacks.push_back(i);
  }
  std::iota(component.begin(), component.end(), std::size_t{0});
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t low = std::min(component[a], component[b]);
    const std::size_t high = std::max(component[a], component[b]);
    for (std::size_t& each : component) {
      if (each == high) {
        each = low;
      }
    }
  };
  for (const Core& core : cores) {
    for (const std::size_t executor : core.executors) {
      join(core.executors.front(), executor);
    }
  }
  for (std::size_t from = 0; from < executor_of.size(); ++from) {
    for (const std::size_t to : graph.successors[from]) {
      if (component[executor_of[from]] != component[executor_of[to]]) {
        join(executor_of[from], executor_of[to]);
      }
    }
  }
}

bool Cores::alone(std::size_t executor) const {
  return std::ranges::count(component, component[executor]) == 1;
}

std::vector<std::string> Cores::assumptions(const model::Application& application,
                                            std::size_t executor) const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < component.size(); ++i) {
    if (component[i] != component[executor]) {
      continue;
    }
    const model::Executor& own = application.executors[i];
    const bool pinned = own.cpus.size() == 1;
    if (!pinned) {
      result.push_back("executor '" + own.name + "' runs on one CPU (cpus: [n])");
    }
    for (std::size_t other = 0; other < component.size(); ++other) {
      const auto& cpus = application.executors[other].cpus;
      if (other == i || core_of[other] == core_of[i]) {
        continue;
      }
      const bool apart =
          pinned && !cpus.empty() && std::ranges::find(cpus, own.cpus.front()) == cpus.end();
      if (apart) {
        continue;
      }
      result.push_back("executor '" + application.executors[other].name +
                       "' does not use the CPU of '" + own.name + "'");
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
