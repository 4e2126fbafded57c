// SPDX-License-Identifier: Apache-2.0
// The section `executor` of a robot.yaml.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "limits.hpp"
#include "read_robot_sections.hpp"
#include "read_scheduling.hpp"

namespace rclrt::model {

namespace detail {

namespace {

constexpr IntegerRange kWorkers{1, 1024};
constexpr IntegerRange kBestEffort{1, 1'000'000};
constexpr std::size_t kMostReservations = 64;  // LaneSet::kMaxReservations of the executors

/// A property of kinds of executors.
using Property = bool (*)(const ExecutorTraits& kind);

constexpr Property kHasLevelThreads = [](const ExecutorTraits& kind) {
  return kind.threads == ExecutorThreads::kPerLevel;
};
constexpr Property kHasNormalThreads = [](const ExecutorTraits& kind) {
  return kHasLevelThreads(kind) || kind.threads == ExecutorThreads::kPerGroup;
};
constexpr Property kHasScheduler = [](const ExecutorTraits& kind) {
  return kind.has_scheduler_thread;
};

ExecutorKind read_kind(const YamlNode& node, Context& context) {
  const std::vector<ExecutorKind> kinds = rclcpp_executor_kinds();
  std::vector<std::string_view> names;
  std::transform(kinds.begin(), kinds.end(), std::back_inserter(names),
                 [](ExecutorKind kind) { return traits(kind).name; });
  const auto index = read_word(node, "kind", names, context);
  return index ? kinds[*index] : ExecutorKind::kPreemptive;
}

/// Checks keys that have a meaning for some kinds only.
class KindRules {
 public:
  KindRules(const Fields& fields, const RobotExecutor& executor, Context& context)
      : fields_(fields), kind_(traits(executor.kind)), context_(context) {}

  void check(const RobotExecutor& executor) const {
    if (kind_.by_deadline && executor.cpus.size() > 1) {
      report("cpus", in_words() + " runs on one CPU", "one CPU");
    }
    if (!kind_.has_worker_count) {
      refuse("workers_per_level", "no number");
    }
    require(kHasScheduler, "scheduler_cpus");
    require(kHasNormalThreads, "best_effort_below");
    require(kHasLevelThreads, "reservations");
    if (executor.preemption == PreemptionUse::kAlways && kind_.one_at_a_time) {
      refuse("preemption", "'never' or 'by_realtime'");
    }
    if (executor.preemption == PreemptionUse::kNever) {
      check_without_preemption();
    }
    if (!executor.reservations.empty() && !executor.cpus.empty()) {
      report("reservations", "reservations beside 'cpus'",
             "no 'cpus', because the kernel accepts reservations only of threads that may use "
             "every CPU");
    }
  }

 private:
  void check_without_preemption() const {
    if (kind_.threads == ExecutorThreads::kPerGroup) {
      report("preemption", "preemption: never has no meaning with " + in_words(),
             "'kind: picas', which runs callbacks to completion");
    }
    for (const std::string_view key : {"best_effort_below", "reservations"}) {
      report(key, std::string(key) + " has no meaning with 'preemption: never'", "one of the two");
    }
  }

  std::string in_words() const { return "'kind: " + std::string(kind_.name) + "'"; }

  /// Reports the key if the kind does not have the property.
  void require(Property has, std::string_view key) const {
    if (has(kind_)) {
      return;
    }
    std::string expected;
    for (const ExecutorKind each : rclcpp_executor_kinds()) {
      if (has(traits(each))) {
        expected +=
            (expected.empty() ? "'kind: " : " or 'kind: ") + std::string(traits(each).name) + "'";
      }
    }
    refuse(key, expected);
  }

  void refuse(std::string_view key, std::string_view expected) const {
    report(key, std::string(key) + " has no meaning with " + in_words(), expected);
  }

  /// Reports a problem at the position of the key.
  void report(std::string_view key, const std::string& what, std::string_view expected) const {
    if (const YamlNode* value = fields_.find(key)) {
      context_.diagnostics.report(value->at, what, expected);
    }
  }

  const Fields& fields_;
  const ExecutorTraits& kind_;
  Context& context_;
};

std::map<int, Reservation> read_reservations(const YamlNode& node, Context& context) {
  std::map<int, Reservation> reservations;
  const auto& list = read_filled_list(node, "reservations", context);
  if (list.size() > kMostReservations) {
    context.diagnostics.report(node.at,
                               "there are " + std::to_string(list.size()) + " reservations",
                               "at most " + std::to_string(kMostReservations));
  }
  for (const YamlNode& item : list) {
    const Fields fields(item, "reservation", {"priority", "runtime_ms", "deadline_ms", "period_ms"},
                        context);
    const YamlNode* priority = fields.require("priority", "priority: 9");
    const Reservation reservation = read_reservation(fields, context);
    const auto level = priority == nullptr
                           ? std::nullopt
                           : read_integer(*priority, "priority", kPriorities, context);
    if (level && !reservations.emplace(static_cast<int>(*level), reservation).second) {
      context.diagnostics.report(priority->at,
                                 "priority " + std::to_string(*level) + " has two reservations",
                                 "one for each priority");
    }
  }
  return reservations;
}

void read_threads_of_levels(const Fields& fields, RobotExecutor& executor, Context& context) {
  executor.cpus = read_cpus(fields, "cpus", context);
  executor.scheduler_cpus = read_cpus(fields, "scheduler_cpus", context);
  if (const YamlNode* value = fields.find("workers_per_level")) {
    if (const auto workers = read_integer(*value, "workers_per_level", kWorkers, context)) {
      executor.workers_per_level = static_cast<std::size_t>(*workers);
    }
  }
  if (const YamlNode* value = fields.find("best_effort_below")) {
    if (const auto priority = read_integer(*value, "best_effort_below", kBestEffort, context)) {
      executor.best_effort_below = static_cast<int>(*priority);
    }
  }
  if (const YamlNode* value = fields.find("reservations")) {
    executor.reservations = read_reservations(*value, context);
  }
}

}  // namespace

std::vector<std::string_view> robot_executor_keys() {
  return {"kind",           "realtime",          "preemption",        "top_priority", "cpus",
          "scheduler_cpus", "workers_per_level", "best_effort_below", "reservations"};
}

RobotExecutor read_robot_executor(const YamlNode& node, Context& context) {
  RobotExecutor executor;
  const Fields fields(node, "executor", robot_executor_keys(), context);
  if (const YamlNode* value = fields.find("kind")) {
    executor.kind = read_kind(*value, context);
  }
  if (const YamlNode* value = fields.find("realtime")) {
    executor.realtime = yaml::read_choice<RealtimeUse>(*value, "realtime",
                                                       {{"try", RealtimeUse::kTry},
                                                        {"require", RealtimeUse::kRequire},
                                                        {"off", RealtimeUse::kOff}},
                                                       context);
  }
  if (const YamlNode* value = fields.find("preemption")) {
    executor.preemption =
        yaml::read_choice<PreemptionUse>(*value, "preemption",
                                         {{"by_realtime", PreemptionUse::kByRealtime},
                                          {"never", PreemptionUse::kNever},
                                          {"always", PreemptionUse::kAlways}},
                                         context);
  }
  if (const YamlNode* value = fields.find("top_priority")) {
    if (const auto top = read_integer(*value, "top_priority", kTopPriorities, context)) {
      executor.top_priority = static_cast<int>(*top);
    }
  }
  read_threads_of_levels(fields, executor, context);
  KindRules(fields, executor, context).check(executor);
  return executor;
}

}  // namespace detail

std::vector<ExecutorKind> rclcpp_executor_kinds() {
  std::vector<ExecutorKind> kinds;
  for (const ExecutorTraits& each : executor_kinds()) {
    if (each.on_rclcpp) {
      kinds.push_back(each.kind);
    }
  }
  return kinds;
}

}  // namespace rclrt::model
