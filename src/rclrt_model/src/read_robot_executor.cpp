// SPDX-License-Identifier: Apache-2.0
// The section `executor` of a robot.yaml.
#include <algorithm>
#include <iterator>
#include <span>
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

constexpr ExecutorKind kOneThreadEach[] = {ExecutorKind::kEdf, ExecutorKind::kPerGroup,
                                           ExecutorKind::kStaticOrder};
constexpr ExecutorKind kThreadsOfLevels[] = {ExecutorKind::kPreemptive,
                                             ExecutorKind::kProducerConsumer};
constexpr ExecutorKind kSchedulers[] = {ExecutorKind::kProducerConsumer,
                                        ExecutorKind::kThreadDispatch};
constexpr ExecutorKind kRunToCompletion[] = {ExecutorKind::kPicas, ExecutorKind::kStaticOrder};

bool is_one_of(std::span<const ExecutorKind> kinds, ExecutorKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

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
      : fields_(fields), kind_(executor.kind), context_(context) {}

  void check(const RobotExecutor& executor) const {
    if (kind_ == ExecutorKind::kEdf && executor.cpus.size() > 1) {
      report("cpus", "'kind: edf' runs on one CPU", "one CPU");
    }
    require_not(kOneThreadEach, "workers_per_level", "no number");
    require(kSchedulers, "scheduler_cpus");
    require(kThreadsOfLevels, "best_effort_below");
    require(kThreadsOfLevels, "reservations");
    if (executor.preemption == PreemptionUse::kAlways) {
      require_not(kRunToCompletion, "preemption", "'never' or 'by_realtime'");
    }
    if (executor.preemption == PreemptionUse::kNever) {
      check_without_preemption();
    }
    if (!executor.reservations.empty() && !executor.cpus.empty()) {
      report("reservations", "reservations beside 'cpus'",
             "no 'cpus': the kernel reserves for threads that may use every CPU");
    }
  }

 private:
  void check_without_preemption() const {
    if (kind_ == ExecutorKind::kPerGroup) {
      report("preemption", "preemption: never has no meaning with 'kind: per_group'",
             "'kind: picas', which runs callbacks to completion");
    }
    for (const std::string_view key : {"best_effort_below", "reservations"}) {
      report(key, std::string(key) + " has no meaning with 'preemption: never'", "one of the two");
    }
  }

  void require(std::span<const ExecutorKind> kinds, std::string_view key) const {
    if (!is_one_of(kinds, kind_)) {
      std::string expected;
      for (const ExecutorKind each : kinds) {
        expected +=
            (expected.empty() ? "'kind: " : " or 'kind: ") + std::string(traits(each).name) + "'";
      }
      require_not(std::span(&kind_, 1), key, expected);
    }
  }

  void require_not(std::span<const ExecutorKind> kinds, std::string_view key,
                   std::string_view expected) const {
    if (is_one_of(kinds, kind_)) {
      report(
          key,
          std::string(key) + " has no meaning with 'kind: " + std::string(traits(kind_).name) + "'",
          expected);
    }
  }

  /// Reports a problem at the position of the key.
  void report(std::string_view key, const std::string& what, std::string_view expected) const {
    if (const YamlNode* value = fields_.find(key)) {
      context_.diagnostics.report(value->at, what, expected);
    }
  }

  const Fields& fields_;
  ExecutorKind kind_;
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
                                 "priority " + std::to_string(*level) + " is reserved for twice",
                                 "each priority once");
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
  return {ExecutorKind::kPreemptive,     ExecutorKind::kProducerConsumer,
          ExecutorKind::kThreadDispatch, ExecutorKind::kEdf,
          ExecutorKind::kPicas,          ExecutorKind::kPerGroup,
          ExecutorKind::kStaticOrder,    ExecutorKind::kWorkshop};
}

}  // namespace rclrt::model
