// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_plan_yaml.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "rclrt/yaml/file.hpp"
#include "rclrt/yaml/name_index.hpp"
#include "rclrt/yaml/scalars.hpp"

namespace rclrt::realtime {

namespace {

using yaml::Context;
using yaml::Fields;
using yaml::IntegerRange;
using yaml::Node;

constexpr IntegerRange kFormatVersions{1, 1};
constexpr IntegerRange kCpus{0, 1023};      // CPU_SETSIZE of glibc
constexpr IntegerRange kPriorities{1, 98};  // 99 is for the kernel's own threads
constexpr IntegerRange kNice{-20, 19};
constexpr std::chrono::nanoseconds kLeastRuntime{1024};  // the kernel's DL_SCALE

/// Reports the key when it is there although the policy gives it no meaning.
void refuse(const Fields& rule, std::string_view key, const std::string& policy,
            std::string_view expected, Context& context) {
  if (const Node* node = rule.find(key)) {
    context.diagnostics.report(
        node->at, std::string(key) + " has no meaning with 'policy: " + policy + "'", expected);
  }
}

std::chrono::nanoseconds read_time(const Fields& rule, std::string_view key,
                                   std::string_view example, Context& context) {
  const Node* node = rule.require(key, example);
  if (node == nullptr) {
    return {};
  }
  return read_milliseconds(*node, key, yaml::Zero::kRefused, context)
      .value_or(std::chrono::nanoseconds::zero());
}

Reservation read_reservation(const Fields& rule, Context& context) {
  Reservation reservation;
  reservation.runtime = read_time(rule, "runtime_ms", "runtime_ms: 2", context);
  reservation.period = read_time(rule, "period_ms", "period_ms: 20", context);
  reservation.deadline = rule.find("deadline_ms") != nullptr
                             ? read_time(rule, "deadline_ms", "", context)
                             : reservation.period;
  const auto [runtime, deadline, period] = reservation;
  const auto zero = std::chrono::nanoseconds::zero();
  if (runtime == zero || deadline == zero || period == zero) {
    return reservation;  // reported
  }
  if (runtime < kLeastRuntime) {
    report_value(*rule.find("runtime_ms"), "runtime_ms", "at least 0.001024", context);
  }
  if (runtime > deadline) {
    report_value(*rule.find("runtime_ms"), "runtime_ms", "no more than the deadline", context);
  }
  if (deadline > period) {
    report_value(*rule.find("deadline_ms"), "deadline_ms", "no more than the period", context);
  }
  return reservation;
}

}  // namespace

std::vector<std::string_view> thread_rule_keys() {
  return {"name", "policy", "priority", "cpus", "nice", "runtime_ms", "deadline_ms", "period_ms"};
}

std::vector<int> read_cpus(const Fields& fields, Context& context) {
  std::vector<int> cpus;
  const Node* node = fields.find("cpus");
  if (node == nullptr) {
    return cpus;
  }
  std::set<std::int64_t> seen;
  for (const Node& item : read_filled_list(*node, "cpus", context)) {
    const auto cpu = read_integer(item, "the CPU", kCpus, context);
    if (!cpu) {
      continue;
    }
    if (!seen.insert(*cpu).second) {
      context.diagnostics.report(item.at, "CPU " + std::to_string(*cpu) + " is listed twice",
                                 "each CPU once");
      continue;
    }
    cpus.push_back(static_cast<int>(*cpu));
  }
  return cpus;
}

Scheduling read_rule_scheduling(const Fields& rule, Context& context) {
  Scheduling scheduling;
  scheduling.cpus = read_cpus(rule, context);
  std::sort(scheduling.cpus.begin(), scheduling.cpus.end());
  const Node* node = rule.require("policy", "policy: fifo");
  if (node == nullptr) {
    return scheduling;
  }
  const auto policy = yaml::read_choice<Policy>(*node, "policy",
                                                {{"other", Policy::kOther},
                                                 {"fifo", Policy::kFifo},
                                                 {"rr", Policy::kRoundRobin},
                                                 {"deadline", Policy::kDeadline}},
                                                context);
  if (!policy) {
    return scheduling;
  }
  scheduling.policy = *policy;
  if (*policy == Policy::kFifo || *policy == Policy::kRoundRobin) {
    if (const Node* priority = rule.require("priority", "priority: 50")) {
      scheduling.priority =
          static_cast<int>(read_integer(*priority, "priority", kPriorities, context).value_or(0));
    }
  } else {
    refuse(rule, "priority", node->text, "no priority, or 'policy: fifo' or 'policy: rr'", context);
  }
  if (*policy == Policy::kDeadline) {
    scheduling.reservation = read_reservation(rule, context);
    refuse(rule, "cpus", node->text,
           "no list: the kernel takes only threads that may use every CPU", context);
  } else {
    for (const auto* key : {"runtime_ms", "deadline_ms", "period_ms"}) {
      refuse(rule, key, node->text, "'policy: deadline'", context);
    }
  }
  if (*policy != Policy::kOther) {
    refuse(rule, "nice", node->text, "no nice value, or 'policy: other'", context);
  } else if (const Node* nice = rule.find("nice")) {
    if (const auto value = read_integer(*nice, "nice", kNice, context)) {
      scheduling.nice = static_cast<int>(*value);
    }
  }
  return scheduling;
}

std::vector<ThreadRule> read_thread_rules(const Node& section, Context& context) {
  std::vector<ThreadRule> rules;
  yaml::NameIndex names("rule", "threads");
  for (const Node& item : read_filled_list(section, "threads", context)) {
    const Fields fields(item, "thread", thread_rule_keys(), context);
    ThreadRule rule;
    if (const Node* node = fields.require("name", "name: control")) {
      if (const auto name = read_text(*node, "name", context)) {
        rule.name = *name;
        names.add(rule.name, node->at, context);
      }
    }
    rule.scheduling = read_rule_scheduling(fields, context);
    rules.push_back(std::move(rule));
  }
  return rules;
}

ThreadPlan parse_thread_plan(std::string_view text, const std::filesystem::path& file) {
  Context context;
  ThreadPlan plan;
  if (const auto root = read_yaml(text, context.diagnostics)) {
    const Fields fields(*root, "thread plan", {"rclrt", "threads"}, context);
    const Node* version = fields.require("rclrt", "rclrt: 1");
    // Of another version nothing else can be judged.
    if (version == nullptr ||
        read_integer(*version, "the format version", kFormatVersions, context)) {
      if (const Node* threads = fields.require("threads", "threads: [...]")) {
        plan.rules = read_thread_rules(*threads, context);
      }
    }
  }
  if (!context.diagnostics.empty()) {
    throw yaml::FileError(file, context.diagnostics.take());
  }
  return plan;
}

ThreadPlan load_thread_plan(const std::filesystem::path& file) {
  return parse_thread_plan(yaml::read_file(file, "thread plan"), file);
}

}  // namespace rclrt::realtime
