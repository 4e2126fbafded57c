// SPDX-License-Identifier: Apache-2.0
// Sporadic tasks on one core, in whole ticks. A tick is what the caller says: a nanosecond for an
// application, the last decimal place for a file of tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rclrt::analysis {

/// Whole units of time; what one is, the task set's file says.
using Ticks = std::int64_t;

/// No time given to the analysis may be longer. What would grow beyond it is not decided.
inline constexpr Ticks kMaxTicks = Ticks{1} << 60;

/// A task releases jobs. Job n arrives at some time a(n) with a(n + 1) >= a(n) + period, and is
/// released, ready to run, at most `jitter` later. Response time and deadline count from a(n).
struct Task {
  std::string id;
  Ticks wcet{};        ///< C: worst-case execution time, 0 (taken for 1 in its own response) to
                       ///< kMaxTicks
  Ticks period{};      ///< T: least time between two arrivals, 1 to kMaxTicks
  Ticks deadline{};    ///< D: may be longer than the period
  Ticks jitter{};      ///< J: longest time from arrival to release
  Ticks blocking{};    ///< B: longest time that less urgent work delays a job, besides what the
                       ///< policy itself causes
  Ticks suspension{};  ///< S: longest time that a job sleeps in all, at any of its instants
  Ticks region{};      ///< longest part of a job that is not preempted; for kFpLimitedPreemptive
  int priority{};      ///< a higher number is more urgent; not used by the EDF policies
  bool operator==(const Task&) const = default;
};

/// How the one core chooses among the jobs that are ready.
enum class Policy {
  kFpPreemptive,         ///< fixed priorities
  kFpNonpreemptive,      ///< fixed priorities; a job that started runs to its end
  kFpLimitedPreemptive,  ///< fixed priorities; a job may switch preemption off for Task::region
  kEdf,                  ///< earliest deadline first
  kEdfNonpreemptive,     ///< earliest deadline first; a job that started runs to its end
};

/// What an analysis says of a deadline.
enum class Answer {
  kYes,
  kNo,
  kUnknown,  ///< not decided: see TaskResult::note
};

/// Long work calls it every millisecond or so; what it throws ends the work.
using InterruptCheck = void (*)();

/// How much work a call may do before it answers "unknown" (or with a bound that is quick to
/// compute) for what is left; in additions, about a nanosecond each.
struct Effort {
  std::int64_t steps = 2'000'000'000;
  InterruptCheck check_interrupt = nullptr;
};

/// What is known of one task.
struct TaskResult {
  /// No job takes longer from arrival to end. Absent when there is no such time or it was not
  /// found.
  std::optional<Ticks> response;
  Answer schedulable{Answer::kUnknown};
  bool exact{};      ///< some legal sequence of arrivals reaches `response`
  std::string note;  ///< why there is no response, or why it is not exact; else empty
};

/// The results of all tasks, in their order, and of the set.
struct TaskSetResult {
  std::vector<TaskResult> tasks;  ///< in the order of the task set
  Answer schedulable{Answer::kUnknown};
};

}  // namespace rclrt::analysis
