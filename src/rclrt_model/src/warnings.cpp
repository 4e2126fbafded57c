// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/warnings.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "rclrt/model/middleware.hpp"
#include "rclrt/model/relative_deadline.hpp"
#include "shared_cpus.hpp"
#include "yaml.hpp"

namespace rclrt::model {

namespace {

using detail::in_quotes;
using detail::may_share_a_cpu;

bool is_realtime(const Scheduling& scheduling) {
  return scheduling.policy == Policy::kFifo || scheduling.policy == Policy::kRoundRobin;
}

/// Returns whether the rule gives threads this real-time priority or a higher one.
bool gives_at_least(const ThreadRule& rule, int priority) {
  return !rule.keep && is_realtime(rule.scheduling) && rule.scheduling.priority >= priority;
}

/// Returns what to change so that the middleware's threads get this SCHED_FIFO priority. `rules`:
/// those that the file states. A new rule must be the first one, because a thread gets the first
/// rule that matches it.
std::string change_for_middleware(const std::vector<ThreadRule>& rules, int priority) {
  const std::string settings = "policy: fifo, priority: " + std::to_string(priority);
  const auto own = std::ranges::find_if(rules, is_of_middleware);
  if (own != rules.end()) {
    return gives_at_least(*own, priority)
               ? "make the rule for middleware the first one under threads"
               : "state " + settings + " in the rule for middleware under threads";
  }
  const std::string rule = "{name: middleware, " + settings + "}";
  return rules.empty() ? "add threads: [" + rule + "]"
                       : "add " + rule + " as the first rule under threads";
}

std::string percent(double share) { return std::to_string(std::lround(share * 100.0)) + " %"; }

std::string list_of(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) {
    text += (text.empty() ? "[" : ", ") + std::to_string(cpu);
  }
  return text + "]";
}

/// Adds a sentence for each set of CPUs with more work than time: the work of all executors that
/// may use no other CPU. An executor without stated CPUs counts alone, as one CPU.
void find_overload(const Application& application, std::vector<std::string>& result) {
  constexpr double kRounding = 1e-9;
  const std::vector<double> rates = application.rates();
  std::vector<double> loads(application.executors.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    loads[application.executor_of(i)] +=
        std::chrono::duration<double>(application.callbacks[i].wcet).count() * rates[i];
  }
  std::set<std::pair<std::optional<std::size_t>, std::vector<int>>> seen;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Executor& executor = application.executors[i];
    std::vector<int> cpus = executor.cpus;
    std::ranges::sort(cpus);
    if (!cpus.empty() && !seen.insert({executor.host, cpus}).second) {
      continue;
    }
    double load = 0;
    for (std::size_t other = 0; other < loads.size(); ++other) {
      const std::vector<int>& theirs = application.executors[other].cpus;
      const bool here = application.executors[other].host == executor.host;
      const bool inside = here && !theirs.empty() && std::ranges::all_of(theirs, [&](int cpu) {
                            return std::ranges::binary_search(cpus, cpu);
                          });
      load += other == i || inside ? loads[other] : 0.0;
    }
    if (load > static_cast<double>(std::max<std::size_t>(cpus.size(), 1)) + kRounding) {
      result.push_back((cpus.empty() ? "executor " + in_quotes(executor.name) +
                                           " states no cpus, and its callbacks"
                                     : "the callbacks on cpus: " + list_of(cpus)) +
                       " need " + percent(load) +
                       " of the time of one CPU: releases wait ever longer or are "
                       "lost; state more CPUs, longer periods or shorter execution times");
    }
  }
}

/// Returns the callbacks that a callback's messages trigger, and those that take its newest ones.
std::vector<std::size_t> receivers(const Application& application, std::size_t from) {
  std::vector<std::size_t> result = application.successors(from);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (sampled_topic(application.callbacks[from], application.callbacks[i])) {
      result.push_back(i);
    }
  }
  return result;
}

/// Returns the highest top_priority of an executor.
int highest_priority(const Application& application) {
  int highest = 0;
  for (const Executor& executor : application.executors) {
    highest = std::max(highest, executor.top_priority.value_or(kTopPriority));
  }
  return highest;
}

/// Adds a sentence if a message from another process may wait for callbacks.
void find_low_middleware(const Application& application, std::vector<std::string>& result) {
  if (middleware_is_above(application) || application.processes().size() < 2) {
    return;
  }
  const auto process_of = [&](std::size_t callback) {
    const Executor& executor = application.executors[application.executor_of(callback)];
    return std::pair(executor.host, executor.process);
  };
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    for (const std::size_t next : receivers(application, i)) {
      if (process_of(i) != process_of(next)) {
        result.push_back(
            "messages from " + in_quotes(application.callbacks[i].id) + " to " +
            in_quotes(application.callbacks[next].id) +
            " cross processes and may wait for callbacks, because the middleware's "
            "threads are not above these; " +
            change_for_middleware(application.threads, highest_priority(application) + 1));
        return;
      }
    }
  }
}

/// A level of an executor: its priorities in the file and in the kernel, and a callback of it.
struct Level {
  std::size_t callback{};
  std::size_t executor{};
  int priority{};
  int kernel{};
};

/// Returns the levels of all executors, in the order of their first callbacks.
std::vector<Level> levels_of(const Application& application, ExecutorKind kind) {
  const std::vector<int> levels = thread_levels(application, kind);
  const std::vector<int> kernel = kernel_priorities(application, kind);
  std::set<std::pair<std::size_t, int>> seen;
  std::vector<Level> result;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t executor = application.executor_of(i);
    if (seen.emplace(executor, levels[i]).second) {
      result.push_back({i, executor, levels[i], kernel[i]});
    }
  }
  return result;
}

std::vector<std::string> equal_kernel_priorities(const Application& application,
                                                 ExecutorKind kind) {
  const std::vector<Level> all = levels_of(application, kind);
  for (const Level& a : all) {
    for (const Level& b : all) {
      const Executor& first = application.executors[a.executor];
      const Executor& second = application.executors[b.executor];
      if (a.executor != b.executor && a.kernel == b.kernel && a.priority > b.priority &&
          may_share_a_cpu(first, second)) {
        const auto text = [&](const Level& each, const Executor& executor) {
          return in_quotes(application.callbacks[each.callback].id) + " (priority " +
                 std::to_string(each.priority) + ", executor " + in_quotes(executor.name) + ")";
        };
        int lowest = a.kernel;
        for (const Level& each : all) {
          lowest = each.executor == a.executor ? std::min(lowest, each.kernel) : lowest;
        }
        return {"callbacks " + text(a, first) + " and " + text(b, second) +
                " may share a CPU and have the same kernel priority, " + std::to_string(a.kernel) +
                "; state a top_priority of " + std::to_string(std::max(2, lowest)) + " for " +
                in_quotes(second.name) + ", below those of " + in_quotes(first.name) +
                ", or use one executor"};
      }
    }
  }
  return {};
}

std::vector<std::string> chains_without_deadlines(const Application& application) {
  std::string names;
  std::set<std::size_t> seen;
  for (const Chain& chain : application.chains) {
    for (const std::size_t each : chain.callbacks) {
      const Callback& callback = application.callbacks[each];
      const bool as_chain =
          relative_deadline(callback).value_or(Nanoseconds::max()) <= chain.deadline;
      if (!callback.deadline && !as_chain && seen.insert(each).second) {
        constexpr std::size_t kListed = 3;
        names += seen.size() > kListed ? "" : (names.empty() ? "" : ", ") + callback.id;
      }
    }
  }
  if (seen.empty()) {
    return {};
  }
  return {"callbacks of chains state no deadline_ms of their own (" + names +
          (names.find(',') == std::string::npos || seen.size() <= 3 ? "" : ", ...") +
          "); the deadline_ms of a chain orders nothing: a timer or event is then due after its "
          "period, and other callbacks run in the background"};
}

/// Returns whether the rules put the receiving threads of a known middleware at `priority` or
/// above. A thread gets the first rule that matches it.
bool receives_above(const std::vector<ThreadRule>& rules, int priority) {
  const auto matches = [](const std::string& pattern, std::string_view text) {
    return pattern.empty() || fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
  };
  return std::ranges::any_of(middlewares(), [&](const Middleware& each) {
    const auto first = std::ranges::find_if(rules, [&](const ThreadRule& rule) {
      return is_of_middleware(rule) ||
             (matches(rule.name, each.receiver) && matches(rule.library, each.file) &&
              matches(rule.function, each.function));
    });
    return first != rules.end() && gives_at_least(*first, priority);
  });
}

/// Returns whether callbacks of the file run under SCHED_FIFO where that is permitted.
bool has_realtime_callbacks(const Robot& robot) {
  const RobotExecutor& executor = robot.executor;
  if (executor.realtime == RealtimeUse::kOff) {
    return false;
  }
  if (robot.callbacks.empty() && !executor.best_effort_below) {
    // By default everything is best effort then. These settings switch that off.
    const ExecutorThreads threads = traits(executor.kind).threads;
    return executor.realtime == RealtimeUse::kRequire ||
           executor.preemption.value_or(PreemptionUse::kByRealtime) != PreemptionUse::kByRealtime ||
           !executor.reservations.empty() ||
           (threads != ExecutorThreads::kPerLevel && threads != ExecutorThreads::kPerGroup) ||
           (robot.recording && !robot.recording->application.empty());
  }
  const int least = executor.best_effort_below.value_or(0);
  return least <= 0 || std::ranges::any_of(robot.callbacks, [&](const NodeTiming& each) {
           return each.priority.value_or(0) >= least;
         });
}

}  // namespace

bool middleware_is_above(const Application& application) {
  const int needed = highest_priority(application) + 1;
  return std::ranges::any_of(application.threads, [needed](const ThreadRule& rule) {
    return rule.name == "middleware" && gives_at_least(rule, needed);
  });
}

std::vector<std::string> warnings(const Application& application) {
  std::vector<std::string> result;
  find_overload(application, result);
  find_low_middleware(application, result);
  for (std::string& each : order_warnings(application, ExecutorKind::kPreemptive)) {
    result.push_back(std::move(each));
  }
  return result;
}

std::vector<std::string> order_warnings(const Application& application, ExecutorKind kind) {
  if (traits(kind).by_deadline) {
    return chains_without_deadlines(application);
  }
  return traits(kind).has_levels ? equal_kernel_priorities(application, kind)
                                 : std::vector<std::string>();
}

std::vector<std::string> warnings(const Robot& robot) {
  const int top = robot.executor.top_priority.value_or(kTopPriority);
  if (!has_realtime_callbacks(robot) || receives_above(robot.threads.rules, top)) {
    return {};
  }
  return {
      "messages from other processes may wait for callbacks, because no rule puts the middleware's "
      "receiving threads above these; " +
      change_for_middleware(robot.threads.rules, top + 1)};
}

std::vector<std::string> warnings(const Host& host) {
  std::vector<std::string> result;
  for (const HostProcess& process : host.processes) {
    for (const std::string& each : warnings(process.robot)) {
      result.push_back("process " + in_quotes(process.name) + ": " + each);
    }
  }
  return result;
}

}  // namespace rclrt::model
