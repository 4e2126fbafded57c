// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_plan.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

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

/// A thread as one check observes it.
struct ObservedThread {
  pid_t tid{};
  std::string name;
  ThreadOrigin origin;
  std::optional<std::size_t> rule;  // its index in the plan
};

bool matches(const std::string& pattern, const std::string& text) {
  return pattern.empty() || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool asks_for_origin(const ThreadRule& rule) {
  return !rule.library.empty() || !rule.function.empty();
}

bool matches(const ThreadRule& rule, const std::string& name, const ThreadOrigin& origin) {
  return (rule.name.empty() || thread_name_matches(rule.name, name)) &&
         matches(rule.library, origin.library) && matches(rule.function, origin.function);
}

/// Returns the index of the first rule that matches; std::nullopt if none does. For a thread of
/// unknown origin, also returns std::nullopt at a rule that depends on the origin, because either
/// this rule or a later one may be right.
std::optional<std::size_t> rule_for(const std::vector<ThreadRule>& rules, const std::string& name,
                                    const ThreadOrigin& origin) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (origin.library.empty() && asks_for_origin(rules[i])) {
      return std::nullopt;
    }
    if (matches(rules[i], name, origin)) {
      return i;
    }
  }
  return std::nullopt;
}

std::vector<ObservedThread> observe(const std::vector<ThreadRule>& rules,
                                    const std::vector<pid_t>& threads) {
  std::map<pid_t, ThreadOrigin> origins = thread_origins();
  std::vector<ObservedThread> result;
  for (const pid_t tid : threads) {
    ObservedThread thread{tid, thread_name(tid), std::move(origins[tid]), std::nullopt};
    thread.rule = rule_for(rules, thread.name, thread.origin);
    result.push_back(std::move(thread));
  }
  return result;
}

/// The refusals, by thread.
using Refusals = std::map<pid_t, std::string>;

Refusals apply_rules(const std::vector<ThreadRule>& rules,
                     const std::vector<ObservedThread>& threads) {
  Refusals refusals;
  for (const ObservedThread& thread : threads) {
    if (!thread.rule || rules[*thread.rule].keep) {
      continue;
    }
    try {
      apply_scheduling(thread.tid, rules[*thread.rule].scheduling);
    } catch (const std::exception& error) {
      refusals.emplace(thread.tid, error.what());
    }
  }
  return refusals;
}

std::string problem_of(const PlannedThread& thread, const Refusals& refusals) {
  if (const auto refusal = refusals.find(thread.tid); refusal != refusals.end()) {
    return refusal->second;
  }
  if (has(thread.found, thread.wanted)) {
    return "";
  }
  return "it has " + to_string(thread.found) + " instead of " + to_string(thread.wanted) +
         ": apply the plan after the last program or library that sets it";
}

ThreadPlanReport report_of(const std::vector<ThreadRule>& rules,
                           const std::vector<ObservedThread>& threads, const Refusals& refusals) {
  ThreadPlanReport report;
  std::vector<bool> used(rules.size());
  for (const ObservedThread& each : threads) {
    const auto found = read_scheduling(each.tid);
    if (!found) {
      continue;  // it has ended
    }
    if (!each.rule) {
      report.unplanned.push_back({each.tid, each.name, *found, each.origin});
      continue;
    }
    const ThreadRule& rule = rules[*each.rule];
    used[*each.rule] = true;
    PlannedThread thread{each.tid, each.name, *each.rule, rule.keep ? *found : rule.scheduling,
                         *found,   {},        each.origin};
    thread.problem = problem_of(thread, refusals);
    report.threads.push_back(std::move(thread));
  }
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    if (!used[rule]) {
      report.unused_rules.push_back(to_string(rules[rule]));
    }
  }
  return report;
}

}  // namespace

std::string to_string(const ThreadRule& rule) {
  if (rule.library.empty() && rule.function.empty()) {
    return rule.name.empty() ? "*" : rule.name;
  }
  std::string result;
  for (const auto& [key, pattern] : {std::pair("name ", &rule.name),
                                     {"library ", &rule.library},
                                     {"function ", &rule.function}}) {
    if (!pattern->empty()) {
      result += (result.empty() ? "" : ", ") + std::string(key) + *pattern;
    }
  }
  return result;
}

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
                    "\": no thread has it as its first match; see what the others have "
                    "(ThreadPlanReport::unplanned), and the rules before it");
  }
  return lines;
}

ThreadPlanReport ThreadPlan::apply() const { return apply(thread_ids()); }

ThreadPlanReport ThreadPlan::apply(const std::vector<pid_t>& threads) const {
  const std::vector<ObservedThread> observed = observe(rules, threads);
  return report_of(rules, observed, apply_rules(rules, observed));
}

ThreadPlanReport ThreadPlan::verify() const { return verify(thread_ids()); }

ThreadPlanReport ThreadPlan::verify(const std::vector<pid_t>& threads) const {
  return report_of(rules, observe(rules, threads), {});
}

std::vector<pid_t> ThreadsBefore::new_threads() const {
  const std::vector<pid_t> now = thread_ids();
  std::vector<pid_t> result;
  std::set_difference(now.begin(), now.end(), ids_.begin(), ids_.end(), std::back_inserter(result));
  return result;
}

}  // namespace rclrt::realtime
