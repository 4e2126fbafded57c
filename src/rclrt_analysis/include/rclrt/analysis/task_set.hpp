// SPDX-License-Identifier: Apache-2.0
// Sporadic tasks on one core, in whole ticks. The caller defines the tick: a nanosecond for an
// application, the last decimal place for a file of tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/verdict.hpp"

namespace rclrt::analysis {

/// Whole units of time; the task set's file defines the unit.
using Ticks = std::int64_t;

/// The longest time that the analysis accepts. Results that would exceed it are not decided.
inline constexpr Ticks kMaxTicks = Ticks{1} << 60;

/// A sporadic task, which releases jobs. Two arrivals are at least `period` apart. A job becomes
/// ready at most `jitter` after its arrival. Response time and deadline count from the arrival.
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

/// The rule by which the core chooses among the jobs that are ready.
enum class Policy {
  kFpPreemptive,         ///< fixed priorities
  kFpNonpreemptive,      ///< fixed priorities; a job that started runs to its end
  kFpLimitedPreemptive,  ///< fixed priorities; a job may switch preemption off for Task::region
  kEdf,                  ///< earliest deadline first
  kEdfNonpreemptive,     ///< earliest deadline first; a job that started runs to its end
};

/// The answer of an analysis about a deadline.
enum class Answer {
  kYes,
  kNo,
  kUnknown,  ///< not decided: see TaskResult::note
};

/// Returns the verdict on a deadline with this answer.
constexpr Verdict verdict_of(Answer answer) {
  return answer == Answer::kYes  ? Verdict::kProved
         : answer == Answer::kNo ? Verdict::kRefuted
                                 : Verdict::kUnknown;
}

/// Long work calls this about once a millisecond; an exception that it throws ends the work.
using InterruptCheck = void (*)();

/// Limits for the work and the results of one call. `steps`: additions of about a nanosecond each.
/// When this limit is reached, the call answers kUnknown for all that is left, or uses a bound that
/// is quick to compute.
struct Effort {
  std::int64_t steps = 2'000'000'000;
  InterruptCheck check_interrupt = nullptr;
  /// The most terms of ChainBound::why that are stated one by one.
  std::size_t terms = 64;
  /// The index of a chain that gets all of its terms.
  std::optional<std::size_t> all_terms_of{};
};

/// The result for one task.
struct TaskResult {
  /// No job takes longer from arrival to end. Absent when no such time exists or none was found.
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
