// SPDX-License-Identifier: Apache-2.0
#include "read_scheduling.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "limits.hpp"

namespace rclrt::model::detail {

namespace {

constexpr std::chrono::nanoseconds kLeastRuntime{1024};  // the kernel's DL_SCALE

/// Reports the key if it is present although it has no meaning under the policy.
void refuse(const Fields& rule, std::string_view key, const std::string& policy,
            std::string_view expected, Context& context) {
  if (const YamlNode* node = rule.find(key)) {
    context.diagnostics.report(
        node->at, std::string(key) + " has no meaning with 'policy: " + policy + "'", expected);
  }
}

std::chrono::nanoseconds read_time(const Fields& rule, std::string_view key,
                                   std::string_view example, Context& context) {
  const YamlNode* node = rule.require(key, example);
  if (node == nullptr) {
    return {};
  }
  return read_milliseconds(*node, key, Zero::kRefused, context)
      .value_or(std::chrono::nanoseconds::zero());
}

}  // namespace

std::vector<std::string_view> thread_rule_keys() {
  return {"name", "policy", "priority", "cpus", "nice", "runtime_ms", "deadline_ms", "period_ms"};
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
    return reservation;  // reported already
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

std::vector<int> read_cpus(const Fields& fields, std::string_view key, Context& context) {
  std::vector<int> cpus;
  const YamlNode* node = fields.find(key);
  if (node == nullptr) {
    return cpus;
  }
  std::set<std::int64_t> seen;
  for (const YamlNode& item : read_filled_list(*node, key, context)) {
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

Scheduling read_scheduling(const Fields& rule, Context& context) {
  Scheduling scheduling;
  scheduling.cpus = read_cpus(rule, "cpus", context);
  std::sort(scheduling.cpus.begin(), scheduling.cpus.end());
  const YamlNode* node = rule.require("policy", "policy: fifo");
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
    if (const YamlNode* priority = rule.require("priority", "priority: 50")) {
      scheduling.priority =
          static_cast<int>(read_integer(*priority, "priority", kOsPriorities, context).value_or(0));
    }
  } else {
    refuse(rule, "priority", node->text, "no priority, or 'policy: fifo' or 'policy: rr'", context);
  }
  if (*policy == Policy::kDeadline) {
    scheduling.reservation = read_reservation(rule, context);
    refuse(rule, "cpus", node->text,
           "no list, because the kernel accepts only threads that may use every CPU", context);
  } else {
    for (const auto* key : {"runtime_ms", "deadline_ms", "period_ms"}) {
      refuse(rule, key, node->text, "'policy: deadline'", context);
    }
  }
  if (*policy != Policy::kOther) {
    refuse(rule, "nice", node->text, "no nice value, or 'policy: other'", context);
  } else if (const YamlNode* nice = rule.find("nice")) {
    if (const auto value = read_integer(*nice, "nice", kNice, context)) {
      scheduling.nice = static_cast<int>(*value);
    }
  }
  return scheduling;
}

}  // namespace rclrt::model::detail
