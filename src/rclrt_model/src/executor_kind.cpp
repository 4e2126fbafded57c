// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_kind.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "rclrt/model/executor_choice.hpp"

namespace rclrt::model {

namespace {

constexpr std::string_view kCeiling =
    "callbacks of one priority delay each other; a callback group has an immediate priority "
    "ceiling";
constexpr std::string_view kByDeadline =
    "deadlines are those of the callbacks, a timer's by default its period; a callback without one "
    "runs in the background; groups follow the stack resource policy";
constexpr std::string_view kTriggerWaits =
    "no bounds are offered for a trigger that waits: the waiting time depends on other callbacks";

// The order of the options is their order in a name.
constexpr ExecutorOption kWaitSetOptions[] = {
    {.text = "threads=N",
     .help = "rclcpp's MultiThreadedExecutor: N threads draw from one ready set",
     .several_threads = true,
     .lowest = 1,
     .highest = ExecutorChoice::kMaxThreads},
    {.text = "static",
     .help = "rclcpp's StaticSingleThreadedExecutor: subscriptions run before timers, clients "
             "before services; one thread",
     .in_place_of = "threads"},
    {.text = "order=registration",
     .help = "ready callbacks of one type run in the order of their registration",
     .is_default = true},
    {.text = "order=arbitrary",
     .help = "ready callbacks of one type run in an order that the seed determines, the same one "
             "at every polling point, in run and simulation"},
    {.text = "seed=N",
     .help = "the seed of that order; default 0",
     .belongs_to = "order=arbitrary"},
};
constexpr ExecutorOption kEventsOptions[] = {
    {.text = "timers_thread",
     .help = "timers have a thread of their own, at the same priority",
     .several_threads = true},
};
constexpr ExecutorOption kStaticOrderOptions[] = {
    {.text = "trigger=any", .help = "a set runs when anything is ready", .is_default = true},
    {.text = "trigger=all",
     .help = "a set runs when every timer and every subscription is ready",
     .no_bounds = kTriggerWaits},
    {.text = "trigger_on=CALLBACK",
     .help = "a set runs when any input of this callback is ready",
     .no_bounds = kTriggerWaits,
     .in_place_of = "trigger"},
    {.text = "let", .help = "a set takes its messages before its first callback runs"},
};

// All kinds of executors. tools/executor_kinds.py copies their contents into the schemas, the
// documentation and rclrt_py; `make lint` checks that the copies are up to date.

constexpr ExecutorTraits kOfWaitSet = {
    .kind = ExecutorKind::kWaitSet,
    .name = "wait_set",
    .label = "wait set (rclcpp semantics)",
    .class_name = "WaitSetExecutor",
    .summary = "rclcpp's Single- or MultiThreadedExecutor, as a baseline",
    .assumption = "each executor has one ready set, of which callbacks run in any order",
    .threads = ExecutorThreads::kFixed,
    .polls = true,
    .one_at_a_time = true,
    .runs_sets = true,
    .options = kWaitSetOptions};

constexpr ExecutorTraits kOfProducerConsumer = {
    .kind = ExecutorKind::kProducerConsumer,
    .name = "producer_consumer",
    .label = "producer_consumer",
    .class_name = "ProducerConsumerExecutor",
    .summary = "the thesis's model: a scheduler thread sorts instances into a queue per level",
    .assumption = kCeiling,
    .threads = ExecutorThreads::kPerLevel,
    .on_rclcpp = true,
    .has_levels = true,
    .has_scheduler_thread = true,
    .has_worker_count = true};

constexpr ExecutorTraits kOfThreadDispatch = {
    .kind = ExecutorKind::kThreadDispatch,
    .name = "thread_dispatch",
    .label = "thread_dispatch",
    .class_name = "ThreadDispatchExecutor",
    .summary = "the thesis's model: a scheduler thread starts a thread per instance",
    .assumption = kCeiling,
    .threads = ExecutorThreads::kPerInstance,
    .on_rclcpp = true,
    .has_levels = true,
    .has_scheduler_thread = true,
    .has_worker_count = true};

constexpr ExecutorTraits kOfPreemptive = {
    .kind = ExecutorKind::kPreemptive,
    .name = "preemptive",
    .label = "preemptive",
    .class_name = "PreemptiveExecutor",
    .summary = "the default: work goes straight into the lane of its level",
    .assumption = kCeiling,
    .threads = ExecutorThreads::kPerLevel,
    .on_rclcpp = true,
    .has_levels = true,
    .has_worker_count = true};

constexpr ExecutorTraits kOfEdf = {.kind = ExecutorKind::kEdf,
                                   .name = "edf",
                                   .label = "edf",
                                   .class_name = "EdfExecutor",
                                   .summary = "the earliest absolute deadline runs, on one CPU",
                                   .assumption = kByDeadline,
                                   .threads = ExecutorThreads::kPerDeadline,
                                   .on_rclcpp = true,
                                   .by_deadline = true};

constexpr ExecutorTraits kOfEvents = {
    .kind = ExecutorKind::kEvents,
    .name = "events",
    .label = "events (rclcpp semantics)",
    .class_name = "EventsExecutor",
    .summary = "rclcpp's EventsExecutor: a queue in order of release",
    .assumption = "each executor has one thread, which runs callbacks in order of release",
    .threads = ExecutorThreads::kFixed,
    .one_at_a_time = true,
    .options = kEventsOptions};

constexpr ExecutorTraits kOfPicas = {
    .kind = ExecutorKind::kPicas,
    .name = "picas",
    .label = "picas",
    .class_name = "PicasExecutor",
    .summary =
        "PiCAS (Choi, Xiang and Kim, RTAS 2021): the most urgent callback is next and runs "
        "to its end",
    .assumption =
        "each executor has one thread, which finishes what it has started; callbacks of "
        "one priority delay each other",
    .threads = ExecutorThreads::kFixed,
    .on_rclcpp = true,
    .has_worker_count = true,
    .one_at_a_time = true,
    .orders_executors = true};

constexpr ExecutorTraits kOfPerGroup = {
    .kind = ExecutorKind::kPerGroup,
    .name = "per_group",
    .label = "per_group",
    .class_name = "PerGroupExecutor",
    .summary =
        "a single-threaded executor per callback group, as started by hand or by "
        "callback_isolated_executor",
    .assumption =
        "each group has one thread, at the highest priority of its callbacks; threads of "
        "one priority delay each other",
    .threads = ExecutorThreads::kPerGroup,
    .on_rclcpp = true,
    .has_levels = true};

constexpr ExecutorTraits kOfStaticOrder = {
    .kind = ExecutorKind::kStaticOrder,
    .name = "static_order",
    .label = "static_order",
    .class_name = "StaticOrderExecutor",
    .summary = "rclc's executor: ready sets run in your own order, when a condition holds",
    .assumption =
        "a set runs whenever anything is ready (with other triggers, no bound is offered)",
    .threads = ExecutorThreads::kFixed,
    .on_rclcpp = true,
    .one_at_a_time = true,
    .runs_sets = true,
    .options = kStaticOrderOptions};

constexpr ExecutorTraits kOfWorkshop = {
    .kind = ExecutorKind::kWorkshop,
    .name = "workshop",
    .label = "workshop",
    .class_name = "WorkshopExecutor",
    .summary =
        "the executor of the workshop \"Real-time programming with ROS 2\": idle threads are "
        "the most urgent, and take the priority of what they run",
    .assumption = kCeiling,
    .threads = ExecutorThreads::kPool,
    .on_rclcpp = true,
    .has_levels = true,
    .has_worker_count = true};

constexpr ExecutorTraits kOfEdfNonPreemptive = {
    .kind = ExecutorKind::kEdfNonPreemptive,
    .name = "edf_nonpreemptive",
    .label = "edf_nonpreemptive",
    .summary = "the earliest absolute deadline is next and runs to its end",
    .assumption = kByDeadline,
    .threads = ExecutorThreads::kFixed,
    .simulated_only = true,
    .one_at_a_time = true,
    .by_deadline = true};

constexpr ExecutorTraits kOfFixedPriorityNonPreemptive = {
    .kind = ExecutorKind::kFixedPriorityNonPreemptive,
    .name = "fp_nonpreemptive",
    .label = "fp_nonpreemptive",
    .summary = "the highest priority is next and runs to its end",
    .assumption = kCeiling,
    .threads = ExecutorThreads::kFixed,
    .simulated_only = true,
    .one_at_a_time = true};

constexpr std::array kTraits = {kOfWaitSet,
                                kOfProducerConsumer,
                                kOfThreadDispatch,
                                kOfPreemptive,
                                kOfEdf,
                                kOfEvents,
                                kOfPicas,
                                kOfPerGroup,
                                kOfStaticOrder,
                                kOfWorkshop,
                                kOfEdfNonPreemptive,
                                kOfFixedPriorityNonPreemptive};

}  // namespace

const ExecutorTraits& traits(ExecutorKind kind) {
  const auto found = std::find_if(kTraits.begin(), kTraits.end(),
                                  [kind](const auto& each) { return each.kind == kind; });
  if (found == kTraits.end()) {
    throw std::invalid_argument("no such kind of executor");
  }
  return *found;
}

std::span<const ExecutorTraits> executor_kinds() noexcept { return kTraits; }

std::optional<ExecutorKind> executor_kind_of(std::string_view name) noexcept {
  const auto found = std::find_if(kTraits.begin(), kTraits.end(),
                                  [name](const auto& each) { return each.name == name; });
  return found == kTraits.end() ? std::nullopt : std::optional(found->kind);
}

std::string executor_names() {
  std::string names;
  for (const ExecutorTraits& each : kTraits) {
    if (!each.simulated_only) {
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
  }
  return names;
}

std::string executor_options_help() {
  std::string help;
  for (const ExecutorTraits& each : kTraits) {
    std::string options;
    for (const ExecutorOption& option : each.options) {
      if (option.is_default) {
        continue;
      }
      options += (options.empty() ? "" : ", ") + std::string(option.text);
      if (option.value() == "N" && option.highest < UINT64_MAX) {
        options +=
            " (" + std::to_string(option.lowest) + " to " + std::to_string(option.highest) + ")";
      }
    }
    if (!options.empty()) {
      help += (help.empty() ? "" : "; ") + options + " of " + std::string(each.name);
    }
  }
  return help;
}

}  // namespace rclrt::model
