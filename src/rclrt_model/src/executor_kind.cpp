// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_kind.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace rclrt::model {

namespace {

constexpr std::array<ExecutorTraits, 7> kTraits{{
    {.kind = ExecutorKind::kWaitSet,
     .name = "wait_set",
     .label = "wait set (rclcpp semantics)",
     .polls = true,
     .one_at_a_time = true},
    {.kind = ExecutorKind::kProducerConsumer,
     .name = "producer_consumer",
     .label = "producer_consumer",
     .has_levels = true,
     .has_scheduler_thread = true},
    {.kind = ExecutorKind::kThreadDispatch,
     .name = "thread_dispatch",
     .label = "thread_dispatch",
     .has_levels = true,
     .has_scheduler_thread = true},
    {.kind = ExecutorKind::kPreemptive,
     .name = "preemptive",
     .label = "preemptive",
     .has_levels = true},
    {.kind = ExecutorKind::kEdf, .name = "edf", .label = "edf", .by_deadline = true},
    {.kind = ExecutorKind::kEdfNonPreemptive,
     .name = "edf_nonpreemptive",
     .label = "edf_nonpreemptive",
     .simulated_only = true,
     .one_at_a_time = true,
     .by_deadline = true},
    {.kind = ExecutorKind::kFixedPriorityNonPreemptive,
     .name = "fp_nonpreemptive",
     .label = "fp_nonpreemptive",
     .simulated_only = true,
     .one_at_a_time = true},
}};

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

}  // namespace rclrt::model
