// SPDX-License-Identifier: Apache-2.0
// Who runs where, and how urgently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// Priorities for a task set.
struct TaskAssignment {
  std::vector<int> priorities;  ///< one per task, from 1 up, all different
  bool schedulable{};
  /// No other assignment is schedulable if this one is not: the tests are of the kind for which
  /// Audsley's algorithm is optimal. Not so with suspension, and where a test gave up.
  bool optimal{};
};

/// Assigns priorities after Audsley, "On priority assignment in fixed priority scheduling",
/// Information Processing Letters 79(1), 2001: from the lowest level up, each goes to a task that
/// is schedulable there, the one with the longest deadline first. Where none is, the rest is
/// deadline monotonic. Policies: fp_preemptive, fp_nonpreemptive, fp_limited_preemptive; with equal
/// deadlines of EDF there is nothing to assign. Pure; any thread. Throws std::invalid_argument for
/// another policy, and as analyse_tasks() does.
RCLRT_ANALYSIS_EXPORT TaskAssignment assign_priorities(std::span<const Task> tasks, Policy policy,
                                                       Effort effort = {.steps = 50'000'000});

/// How good an assignment is; less is better. Of the bounds that there are, 0 without any.
struct Quality {
  std::size_t not_proved{};  ///< chains
  std::size_t not_bounded{};
  double worst{};          ///< the largest bound in proportion to its deadline
  double mean{};           ///< of that
  double mean_bound_ns{};  ///< without proportion
  auto operator<=>(const Quality&) const = default;
};

/// What an assignment is chosen for. First come always the fewest chains without a proof, then
/// those without a bound.
enum class Objective {
  kFeasible,     ///< no further: the search ends when all are proved
  kMaxSlack,     ///< the least Quality::worst, so that each deadline is the farthest away
  kMinResponse,  ///< the least Quality::mean_bound_ns
};

/// Returns whether `a` is better than `b`.
RCLRT_ANALYSIS_EXPORT bool better(const Quality& a, const Quality& b, Objective objective);

/// How nodes get their cores and callbacks their priorities.
enum class AssignMethod {
  kSearch,  ///< local search over the bounds, from the best of several starts
  kPicas,   ///< PiCAS's allocation and priorities, as they are
};

/// What an assignment of nodes to cores is to respect.
struct AssignOptions {
  std::vector<int> cpus{0};  ///< one executor for each that is used
  ExecutorKind executor{ExecutorKind::kPreemptive};
  Overheads overheads{};
  AssignMethod method{AssignMethod::kSearch};
  Objective objective{Objective::kMaxSlack};
  std::size_t evaluations = 2000;  ///< of all chain bounds, at most; of kSearch
  std::uint64_t seed = 1;
  InterruptCheck check_interrupt = nullptr;
};

/// Nodes on cores, callbacks with priorities.
struct Assignment {
  model::Application application;  ///< with its new executors and priorities
  Quality before;                  ///< of the application as it is
  Quality after;
  std::size_t evaluations{};
  /// By Audsley's algorithm, which found an order with all deadlines proved if there is one: one
  /// independent callback per chain, one core.
  bool optimal{};
  std::string start;  ///< what the search began from, such as "picas"
};

/// Assigns one executor per core, as PiCAS does: Choi, Xiang and Kim, RTAS 2021, section V. The
/// nodes of a chain begin together, and with them all that topics join, unless that is more than a
/// core can do: then each chain has its own, the most urgent first. The heaviest goes to the least
/// loaded core first. Priorities start from the best of given, rate, deadline, PiCAS and Audsley's
/// algorithm over the chains. Then both are improved by local search over the chain bounds: nodes
/// move, chains change their places in the order. Never worse than the start. With
/// AssignMethod::kPicas there is neither another start nor a search. Deterministic; any thread.
/// Throws std::invalid_argument without CPUs and as chain_bounds() does.
RCLRT_ANALYSIS_EXPORT Assignment assign(const model::Application& application,
                                        const AssignOptions& options);

/// Returns the quality by chain_bounds().
RCLRT_ANALYSIS_EXPORT Quality quality(const model::Application& application, ExecutorKind executor,
                                      const Overheads& overheads, Effort effort = {});

}  // namespace rclrt::analysis
