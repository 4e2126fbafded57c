// SPDX-License-Identifier: Apache-2.0
// Assignment of callbacks to cores, and of priorities to callbacks and tasks.
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
  /// True if no other assignment is schedulable when this one is not: the tests are of the kind for
  /// which Audsley's algorithm is optimal. False if a task suspends itself, or if a test gave up.
  bool optimal{};
};

/// Assigns priorities after Audsley, "On priority assignment in fixed priority scheduling",
/// Information Processing Letters 79(1), 2001. From the lowest priority up, each priority goes to a
/// task that is schedulable there, preferring the longest deadline. If no task is, the remaining
/// priorities are deadline monotonic. Policies: fp_preemptive, fp_nonpreemptive,
/// fp_limited_preemptive; under EDF jobs of equal deadlines run in any order, so there
/// is nothing to assign. Pure; any thread. Throws std::invalid_argument for another policy, and as
/// analyse_tasks() does.
RCLRT_ANALYSIS_EXPORT TaskAssignment assign_priorities(std::span<const Task> tasks, Policy policy,
                                                       Effort effort = {.steps = 50'000'000});

/// The quality of an assignment; less is better. `worst` and the means are over the chains with a
/// bound; 0 without any.
struct Quality {
  std::size_t not_proved{};  ///< chains
  std::size_t not_bounded{};
  double worst{};          ///< the largest bound / deadline
  double mean{};           ///< the mean of bound / deadline
  double mean_bound_ns{};  ///< the mean of the bounds themselves
  auto operator<=>(const Quality&) const = default;
};

/// The objective of an assignment. Every objective first minimises the number of chains without a
/// proof, then the number of chains without a bound.
enum class Objective {
  kFeasible,     ///< nothing more: the search ends when all are proved
  kMaxSlack,     ///< the least Quality::worst: the most slack at the tightest deadline
  kMinResponse,  ///< the least Quality::mean_bound_ns
};

/// Returns whether `a` is better than `b`.
RCLRT_ANALYSIS_EXPORT bool better(const Quality& a, const Quality& b, Objective objective);

/// How cores are chosen for nodes, and priorities for callbacks.
enum class AssignMethod {
  kSearch,  ///< local search over the bounds, from the best of several starts
  kPicas,   ///< PiCAS's allocation and priorities, as they are
};

/// The constraints and the effort of an assignment of nodes to cores.
struct AssignOptions {
  std::vector<int> cpus{0};  ///< one executor for each that is used
  ExecutorKind executor{ExecutorKind::kPreemptive};
  Overheads overheads{};
  AssignMethod method{AssignMethod::kSearch};
  Objective objective{Objective::kMaxSlack};
  std::size_t evaluations = 2000;  ///< evaluations of all chain bounds, at most; for kSearch
  std::uint64_t seed = 1;
  InterruptCheck check_interrupt = nullptr;
};

/// An application with nodes on cores and priorities of callbacks.
struct Assignment {
  model::Application application;  ///< with its new executors and priorities
  Quality before;                  ///< of the application as it is
  Quality after;
  std::size_t evaluations{};
  /// True if Audsley's algorithm chose the order: it proves all deadlines if any order does. That
  /// requires one core, one independent callback per chain, and threads that preempt by priority.
  bool optimal{};
  std::string start;  ///< what the search began from, such as "picas"
};

/// Assigns one executor per core, as PiCAS does: Choi, Xiang and Kim, RTAS 2021, section V. The
/// nodes of a chain, and all nodes that topics join to them, begin on one core. If they are more
/// than a core can do, each chain is placed by itself, the most urgent first. The heaviest group of
/// nodes goes to the least loaded core first. Priorities start from the best of: given, rate
/// monotonic, deadline monotonic, PiCAS, and Audsley's algorithm over the chains. Local search over
/// the chain bounds then improves both: it moves nodes, and changes the places of chains in the
/// order. The result is never worse than the start. AssignMethod::kPicas has neither another start
/// nor a search. Deterministic; any thread. Throws std::invalid_argument without CPUs and as
/// chain_bounds() does.
RCLRT_ANALYSIS_EXPORT Assignment assign(const model::Application& application,
                                        const AssignOptions& options);

/// Returns the quality of the application, computed by chain_bounds().
RCLRT_ANALYSIS_EXPORT Quality quality(const model::Application& application, ExecutorKind executor,
                                      const Overheads& overheads, Effort effort = {});

}  // namespace rclrt::analysis
