// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <optional>

namespace rclrt::realtime {

namespace {

constexpr std::size_t kNameLength = 15;  // TASK_COMM_LEN less the terminating zero

bool has(const Scheduling& found, const Scheduling& wanted) {
  std::vector<int> cpus = wanted.cpus;
  std::sort(cpus.begin(), cpus.end());
  return found.policy == wanted.policy && found.priority == wanted.priority &&
         (!wanted.nice || found.nice == wanted.nice) &&
         (wanted.policy != Policy::kDeadline || found.reservation == wanted.reservation) &&
         (cpus.empty() || found.cpus == cpus);
}

std::optional<std::size_t> rule_for(const std::vector<ThreadRule>& rules, const std::string& name) {
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const ThreadRule& each) {
    return thread_name_matches(each.name, name);
  });
  if (rule == rules.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(rule - rules.begin());
}

/// What was refused, by thread.
using Refusals = std::map<pid_t, std::string>;

Refusals give(const std::vector<ThreadRule>& rules, const std::vector<pid_t>& threads) {
  Refusals refusals;
  for (const pid_t tid : threads) {
    const auto rule = rule_for(rules, thread_name(tid));
    if (!rule) {
      continue;
    }
    try {
      apply_scheduling(tid, rules[*rule].scheduling);
    } catch (const std::exception& error) {
      refusals.emplace(tid, error.what());
    }
  }
  return refusals;
}

ThreadPlanReport look(const std::vector<ThreadRule>& rules, const std::vector<pid_t>& threads,
                      const Refusals& refusals) {
  ThreadPlanReport report;
  std::vector<bool> used(rules.size());
  for (const pid_t tid : threads) {
    const std::string name = thread_name(tid);
    const auto found = read_scheduling(tid);
    if (!found) {
      continue;  // it has ended
    }
    const auto rule = rule_for(rules, name);
    if (!rule) {
      report.unplanned.push_back({tid, name, *found});
      continue;
    }
    used[*rule] = true;
    PlannedThread thread{tid, name, *rule, rules[*rule].scheduling, *found, {}};
    if (const auto refusal = refusals.find(tid); refusal != refusals.end()) {
      thread.problem = refusal->second;
    } else if (!has(thread.found, thread.wanted)) {
      thread.problem = "it has " + to_string(thread.found) + " instead of " +
                       to_string(thread.wanted) +
                       ": apply the plan after the last program or library that sets it";
    }
    report.threads.push_back(std::move(thread));
  }
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    if (!used[rule]) {
      report.unused_rules.push_back(rules[rule].name);
    }
  }
  return report;
}

}  // namespace

bool thread_name_matches(const std::string& pattern, const std::string& name) {
  if (pattern.find_first_of("*?[\\") == std::string::npos) {
    return pattern.substr(0, kNameLength) == name;
  }
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::vector<std::string> ThreadPlanReport::problems() const {
  std::vector<std::string> lines;
  for (const PlannedThread& thread : threads) {
    if (!thread.problem.empty()) {
      lines.push_back("thread \"" + thread.name + "\" (" + std::to_string(thread.tid) +
                      "): " + thread.problem);
    }
  }
  for (const std::string& rule : unused_rules) {
    lines.push_back("rule \"" + rule +
                    "\": no thread has it as its first match; see the names in "
                    "/proc/self/task/*/comm, and the rules before it");
  }
  return lines;
}

ThreadPlanReport ThreadPlan::apply() const { return apply(thread_ids()); }

ThreadPlanReport ThreadPlan::apply(const std::vector<pid_t>& threads) const {
  return look(rules, threads, give(rules, threads));
}

ThreadPlanReport ThreadPlan::verify() const { return verify(thread_ids()); }

ThreadPlanReport ThreadPlan::verify(const std::vector<pid_t>& threads) const {
  return look(rules, threads, {});
}

std::vector<pid_t> ThreadsBefore::new_threads() const {
  const std::vector<pid_t> now = thread_ids();
  std::vector<pid_t> result;
  std::set_difference(now.begin(), now.end(), ids_.begin(), ids_.end(), std::back_inserter(result));
  return result;
}

}  // namespace rclrt::realtime
