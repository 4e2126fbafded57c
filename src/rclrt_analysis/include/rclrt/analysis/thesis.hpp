// SPDX-License-Identifier: Apache-2.0
// The two tests of the thesis under their own names, with the corrections of its errata. Both are
// conditional: neither is safe without its assumptions, which the result lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/assumption.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The result of a test of the thesis for one chain.
struct ThesisChain {
  Ticks workload{};               ///< ns
  std::optional<Ticks> response;  ///< ns; for the harmonic test, when it is at most the deadline
  Ticks deadline{};               ///< ns
  bool holds{};
};

/// The result of a test. If `applies`, its verdict is Verdict::kConditional, never kProved.
struct ThesisResult {
  bool applies = true;  ///< if false, `why_not` has the condition of the test that is not met
  std::string why_not;
  bool holds{};
  std::vector<ThesisChain> chains;  ///< in the order of the application
  std::vector<Assumption> assumptions;
};

/// Applies the thesis's feasibility test (section 5.3, algorithm 2). A chain holds if its own work,
/// together with the work of all callbacks that its syncs wait for, fits into its deadline; each
/// callback counts once. If several callbacks publish an input, the one with the least work counts.
/// Pure; any thread. Throws std::invalid_argument for a graph with a cycle.
RCLRT_ANALYSIS_EXPORT ThesisResult thesis_feasibility(const model::Application& application);

/// Applies the thesis's test for harmonic tasks (section 5.4). Each chain becomes a task with all
/// work at its (synthesised) priority, and equations 5.1 and 5.2, summed over the more urgent
/// tasks, test these tasks. The test applies only if every deadline equals the period, synchronised
/// chains have one period, and no two chains have the same priority. Pure; any thread. Throws
/// std::invalid_argument for a graph with a cycle.
RCLRT_ANALYSIS_EXPORT ThesisResult thesis_harmonic(const model::Application& application);

/// Both tests of an application, and the verdicts that follow from them.
struct ThesisJudgement {
  ThesisResult feasibility;
  ThesisResult harmonic;
  /// In the order of the chains: kConditional if both tests apply and hold for it, else kUnknown.
  std::vector<Verdict> verdicts;
  bool feasible{};  ///< both tests hold for all chains
};

/// Returns both tests and their verdicts. Pure; any thread. Throws as they do.
RCLRT_ANALYSIS_EXPORT ThesisJudgement judge_by_thesis(const model::Application& application);

}  // namespace rclrt::analysis
