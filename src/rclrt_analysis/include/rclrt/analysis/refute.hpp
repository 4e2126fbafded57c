// SPDX-License-Identifier: Apache-2.0
// Verdicts after a search by simulation for schedules that miss what is not proved.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// A judgement after the search for counter-examples.
struct Refutation {
  /// A chain with a counter-example is refuted, and its note states what exceeds its limit.
  Judgement judgement;
  std::vector<std::optional<CounterExample>> examples;                 ///< one per chain
  std::vector<std::optional<CounterExample>> cause_effect_examples{};  ///< one per such chain
  std::string not_searched;  ///< why the application cannot be simulated; empty if it can
  /// The overheads that the simulations of the search did not have: "background" and "stall",
  /// because nothing states when they occur, and "handover". Empty if the machine has no such
  /// overheads, or if no chain is left with the verdict kUnknown.
  std::vector<std::string> left_out;
};

/// Searches, by simulation, for a counter-example of each chain and cause-effect chain that has a
/// limit and the verdict kUnknown, and returns the verdicts after that. Chains that are proved or
/// conditional keep their verdicts. `search` must have the executor and the overheads of the
/// judgement. `rclrt analyze` and `rclrt assign` print these verdicts. Deterministic; any thread.
RCLRT_ANALYSIS_EXPORT Refutation refute(const model::Application& application, Judgement judgement,
                                        const Search& search);

/// The results of tasks after the search for counter-examples.
struct TaskRefutation {
  TaskSetResult result;  ///< a task with a counter-example is not schedulable, nor is the set
  std::vector<std::optional<TaskCounterExample>> examples;  ///< one per task
};

/// Searches for counter-examples of the tasks that are not proved to be schedulable.
RCLRT_ANALYSIS_EXPORT TaskRefutation refute(std::span<const Task> tasks, Policy policy,
                                            TaskSetResult result, const SearchEffort& effort = {});

}  // namespace rclrt::analysis
