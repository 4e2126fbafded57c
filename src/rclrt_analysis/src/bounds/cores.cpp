// SPDX-License-Identifier: Apache-2.0
#include "bounds/cores.hpp"

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
    executor_of.push_back(application.executor_of(i));
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

std::string on_one_cpu(const model::Executor& executor) {
  return "executor '" + executor.name + "' runs on one CPU (cpus: [n])";
}

bool Cores::alone(std::size_t executor) const {
  return std::ranges::count(component, component[executor]) == 1;
}

namespace {

/// Returns whether the middleware's threads run above all callbacks.
bool middleware_is_above(const model::Application& application) {
  return std::ranges::any_of(application.threads, [](const model::ThreadRule& rule) {
    const bool realtime = rule.scheduling.policy == model::Policy::kFifo ||
                          rule.scheduling.policy == model::Policy::kRoundRobin;
    return rule.name == "middleware" && realtime && rule.scheduling.priority > model::kTopPriority;
  });
}

bool has_scheduler_apart(const model::Executor& executor, bool scheduled) {
  return scheduled && !executor.scheduler_cpus.empty() && executor.scheduler_cpus != executor.cpus;
}

/// Returns whether no other executor may use a CPU of the executor's scheduler thread.
bool has_scheduler_cpus_alone(const model::Application& application, std::size_t executor) {
  const auto& own = application.executors[executor].scheduler_cpus;
  const auto uses = [&own](const std::vector<int>& cpus) {
    return std::ranges::find_first_of(own, cpus) != own.end();
  };
  for (std::size_t other = 0; other < application.executors.size(); ++other) {
    const model::Executor& theirs = application.executors[other];
    if (other != executor &&
        (theirs.cpus.empty() || uses(theirs.cpus) || uses(theirs.scheduler_cpus))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Cores::global(const model::Application& application, std::size_t executor,
                   bool scheduled) const {
  const model::Executor& own = application.executors[executor];
  return alone(executor) &&
         (own.cpus.size() > 1 || (own.cpus.size() == 1 && has_scheduler_apart(own, scheduled)));
}

std::optional<std::string> Cores::contradiction(const model::Application& application,
                                                std::size_t executor, bool one_at_a_time,
                                                bool scheduled, bool on_several) const {
  const bool several = on_several && global(application, executor, scheduled);
  const auto listed = [](const std::vector<int>& cpus) {
    std::string text;
    for (const int cpu : cpus) {
      text += (text.empty() ? "" : ", ") + std::to_string(cpu);
    }
    return "cpus: [" + text + "]";
  };
  for (std::size_t i = 0; i < component.size(); ++i) {
    const model::Executor& own = application.executors[i];
    if (component[i] != component[executor]) {
      continue;
    }
    if (own.cpus.size() > 1 && !one_at_a_time && !several) {
      return "executor '" + own.name + "' runs callbacks on several CPUs at once (" +
             listed(own.cpus) + "); bounds are of one CPU each: state one (cpus: [" +
             std::to_string(own.cpus.front()) + "])";
    }
    for (std::size_t other = 0; other < component.size(); ++other) {
      const model::Executor& theirs = application.executors[other];
      if (other == i || core_of[other] == core_of[i]) {
        continue;
      }
      const auto shared = std::ranges::find_first_of(own.cpus, theirs.cpus);
      if (shared != own.cpus.end()) {
        return "executors '" + own.name + "' and '" + theirs.name + "' share CPU " +
               std::to_string(*shared) + ", and one of them has others, too (" +
               listed(theirs.cpus.size() > 1 ? theirs.cpus : own.cpus) +
               "): state one CPU for each";
      }
    }
  }
  return std::nullopt;
}

std::vector<std::string> Cores::assumptions(const model::Application& application,
                                            std::size_t executor, bool scheduled,
                                            bool one_at_a_time, bool on_several) const {
  const bool several = on_several && global(application, executor, scheduled);
  std::vector<std::string> result;
  const auto& own_process = application.executors[executor].process;
  bool several_processes = false;
  for (std::size_t i = 0; i < component.size(); ++i) {
    if (component[i] != component[executor]) {
      continue;
    }
    several_processes = several_processes || application.executors[i].process != own_process;
    const model::Executor& own = application.executors[i];
    const bool pinned = own.cpus.size() == 1;
    if (has_scheduler_apart(own, scheduled) &&
        !(several && has_scheduler_cpus_alone(application, i))) {
      // The bounds assume that a scheduler thread on another CPU takes no time. In reality, while
      // it passes a message on, a less urgent callback may start on this CPU and hold a group. The
      // executors on the scheduler thread's CPU also get less of that CPU.
      result.push_back("the scheduler thread of '" + own.name +
                       "' takes no time on its own CPUs (scheduler_cpus)");
    }
    if (!pinned && !several && (own.cpus.empty() || !one_at_a_time)) {
      result.push_back(on_one_cpu(own));
    }
    for (std::size_t other = 0; other < component.size(); ++other) {
      const auto& schedulers = application.executors[other].scheduler_cpus;
      if (scheduled && other != i && core_of[other] != core_of[i] &&
          std::ranges::find_first_of(schedulers, own.cpus) != schedulers.end()) {
        result.push_back("the scheduler thread of '" + application.executors[other].name +
                         "' takes no time on the CPU of '" + own.name + "' (scheduler_cpus)");
      }
      const auto& cpus = application.executors[other].cpus;
      if (other == i || core_of[other] == core_of[i]) {
        continue;
      }
      const bool apart = !own.cpus.empty() && !cpus.empty() &&
                         std::ranges::find_first_of(own.cpus, cpus) == own.cpus.end();
      if (apart) {
        continue;
      }
      result.push_back("executor '" + application.executors[other].name +
                       "' does not use the CPU of '" + own.name + "'");
    }
  }
  if (several_processes && !middleware_is_above(application)) {
    // Between processes a thread of the middleware receives the message.
    result.push_back(
        "callbacks do not keep the middleware from handing messages over (threads: "
        "middleware, policy: fifo, priority: 96)");
  }
  return result;
}

}  // namespace rclrt::analysis::detail
