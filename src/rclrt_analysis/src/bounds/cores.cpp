// SPDX-License-Identifier: Apache-2.0
#include "bounds/cores.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "bounds/thread_priorities.hpp"
#include "rclrt/model/warnings.hpp"

namespace rclrt::analysis::detail {

bool overlap(const std::vector<int>& cpus, const std::vector<int>& others) {
  return std::ranges::find_first_of(cpus, others) != cpus.end();
}

const std::vector<int>& scheduler_cpus(const model::Executor& executor) {
  return executor.scheduler_cpus.empty() ? executor.cpus : executor.scheduler_cpus;
}

namespace {

/// Returns whether threads of the two executors may run on one CPU. `scheduled`: executors have
/// scheduler threads.
bool share_cpus(const model::Executor& one, const model::Executor& other, bool scheduled) {
  return overlap(one.cpus, other.cpus) ||
         (scheduled &&
          (overlap(scheduler_cpus(one), other.cpus) || overlap(one.cpus, scheduler_cpus(other)) ||
           overlap(scheduler_cpus(one), scheduler_cpus(other))));
}

}  // namespace

Cores::Cores(const model::Application& application, const CallbackGraph& graph, bool scheduled)
    : core_of(application.executors.size()),
      component(application.executors.size()),
      scheduled_(scheduled) {
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
  for (std::size_t one = 0; one < component.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (share_cpus(application.executors[one], application.executors[other], scheduled)) {
        join(one, other);
      }
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
  return "executor '" + executor.name + kRunsOnOneCpu;
}

bool Cores::alone(std::size_t executor) const {
  return std::ranges::count(component, component[executor]) == 1;
}

namespace {

std::set<int> as_set(const std::vector<int>& cpus) { return {cpus.begin(), cpus.end()}; }

bool has_scheduler_apart(const model::Executor& executor, bool scheduled) {
  return scheduled && !executor.scheduler_cpus.empty() &&
         as_set(executor.scheduler_cpus) != as_set(executor.cpus);
}

/// Returns whether no callback of another executor can delay the executor's scheduler thread on
/// that thread's CPUs.
bool keeps_scheduler_cpus(const model::Application& application, std::size_t executor) {
  const model::Executor& own = application.executors[executor];
  return std::ranges::none_of(application.executors, [&own](const model::Executor& other) {
    return &other != &own && (other.cpus.empty() || (overlap(own.scheduler_cpus, other.cpus) &&
                                                     top_priority(other) > top_priority(own)));
  });
}

}  // namespace

std::vector<std::size_t> Cores::executors_with(std::size_t executor) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < component.size(); ++i) {
    if (component[i] == component[executor]) {
      result.push_back(i);
    }
  }
  return result;
}

Core Cores::whole_component(std::size_t executor) const {
  Core result{.executors = executors_with(executor), .callbacks = {}};
  for (std::size_t callback = 0; callback < executor_of.size(); ++callback) {
    if (component[executor_of[callback]] == component[executor]) {
      result.callbacks.push_back(callback);
    }
  }
  return result;
}

bool Cores::all_state_cpus(const model::Application& application, std::size_t executor) const {
  return std::ranges::none_of(executors_with(executor), [&](std::size_t each) {
    return application.executors[each].cpus.empty();
  });
}

bool Cores::global(const model::Application& application, std::size_t executor,
                   bool one_at_a_time) const {
  if (!all_state_cpus(application, executor)) {
    return false;
  }
  const std::vector<std::size_t> all = executors_with(executor);
  bool several = false;
  for (const std::size_t i : all) {
    const model::Executor& each = application.executors[i];
    const auto shares = [&](std::size_t other) {
      return other != i && overlap(each.cpus, application.executors[other].cpus);
    };
    several = several || has_scheduler_apart(each, scheduled_) ||
              (each.cpus.size() > 1 && (!one_at_a_time || std::ranges::any_of(all, shares)));
  }
  return several;
}

std::optional<std::string> Cores::missing_cpus(const model::Application& application,
                                               std::size_t executor) const {
  const model::Executor* without = nullptr;
  const model::Executor* several = nullptr;
  for (const std::size_t i : executors_with(executor)) {
    const model::Executor& each = application.executors[i];
    without = each.cpus.empty() ? &each : without;
    several = each.cpus.size() > 1 ? &each : several;
  }
  if (without == nullptr || several == nullptr) {
    return std::nullopt;
  }
  return "executor '" + without->name + "' states no CPUs, and exchanges messages with '" +
         several->name + "', which runs callbacks on several: state its CPUs (cpus: [...])";
}

bool Cores::share_some_cpus(const model::Application& application, std::size_t executor) const {
  std::set<std::set<int>> found;  // of threads that have several CPUs
  const auto add = [&found](const std::vector<int>& cpus) {
    if (cpus.size() > 1) {
      found.insert(as_set(cpus));
    }
  };
  for (const std::size_t i : executors_with(executor)) {
    add(application.executors[i].cpus);
    if (scheduled_) {
      add(scheduler_cpus(application.executors[i]));
    }
  }
  std::set<int> all;
  std::size_t total = 0;
  for (const std::set<int>& cpus : found) {
    all.insert(cpus.begin(), cpus.end());
    total += cpus.size();
  }
  return all.size() < total;
}

std::optional<std::string> Cores::contradiction(const model::Application& application,
                                                std::size_t executor, bool one_at_a_time,
                                                bool on_several) const {
  if (on_several && global(application, executor, one_at_a_time)) {
    return std::nullopt;
  }
  if (on_several && !one_at_a_time) {
    if (auto missing = missing_cpus(application, executor)) {
      return missing;
    }
  }
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
    if (own.cpus.size() > 1 && !one_at_a_time) {
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
                                            std::size_t executor, bool one_at_a_time,
                                            bool on_several) const {
  const bool several = on_several && global(application, executor, one_at_a_time);
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
    if (has_scheduler_apart(own, scheduled_) &&
        !(several && keeps_scheduler_cpus(application, i))) {
      // The bounds assume that a scheduler thread on another CPU takes no time. In reality, while
      // it passes a message on, a less urgent callback may start on this CPU and hold a group. The
      // executors on the scheduler thread's CPU also get less of that CPU.
      result.push_back("the scheduler thread of '" + own.name +
                       "' takes no time on its own CPUs (scheduler_cpus)");
    }
    // A single thread may use any CPU, but no other executor may use the same one.
    const bool is_only = application.executors.size() == 1;
    if (!pinned && !several && (!one_at_a_time || (own.cpus.empty() && !is_only))) {
      result.push_back(on_one_cpu(own));
    }
    for (std::size_t other = 0; other < component.size(); ++other) {
      if (several && component[other] == component[executor]) {
        continue;
      }
      if (scheduled_ && other != i && core_of[other] != core_of[i] &&
          overlap(application.executors[other].scheduler_cpus, own.cpus)) {
        result.push_back("the scheduler thread of '" + application.executors[other].name +
                         "' takes no time on the CPU of '" + own.name + "' (scheduler_cpus)");
      }
      const auto& cpus = application.executors[other].cpus;
      if (other == i || core_of[other] == core_of[i]) {
        continue;
      }
      if (!own.cpus.empty() && !cpus.empty() && !overlap(own.cpus, cpus)) {
        continue;
      }
      result.push_back("executor '" + application.executors[other].name +
                       "' does not use the CPU of '" + own.name + "'");
    }
  }
  if (several && share_some_cpus(application, executor)) {
    // With RT_PUSH_IPI, its default, Linux (kernel/sched/rt.c) looks only at the most urgent of the
    // threads that wait for a CPU. If that thread cannot move, the others wait, too, even if one of
    // them may use a CPU that is idle. Threads with equal sets of CPUs can move, or not, together.
    result.push_back(kPullsAnyThread);
  }
  if (several_processes && !model::middleware_is_above(application)) {
    // Between processes a thread of the middleware receives the message.
    result.emplace_back(kMiddlewareHandsOver);
  }
  return result;
}

}  // namespace rclrt::analysis::detail
