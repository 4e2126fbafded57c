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
  /// Whether `schedulable` is final. True: if this assignment is not schedulable, no other one is,
  /// because Audsley's algorithm is optimal for the tests that were used. False if a task suspends
  /// itself, or if a test gave up.
  bool optimal{};
};

/// Assigns priorities by Audsley's algorithm ("On priority assignment in fixed priority
/// scheduling", Information Processing Letters 79(1), 2001): from the lowest priority up, each
/// priority goes to a task that is schedulable at it, preferably the one with the longest deadline.
/// If no task is, the remaining priorities are deadline monotonic. Supports fp_preemptive,
/// fp_nonpreemptive and fp_limited_preemptive; there is nothing to assign under EDF. Pure; any
/// thread. Throws std::invalid_argument for another policy, and as analyse_tasks() does.
RCLRT_ANALYSIS_EXPORT TaskAssignment assign_priorities(std::span<const Task> tasks, Policy policy,
                                                       Effort effort = {.steps = 50'000'000});

/// The quality of an assignment of an application; less is better. It is over the chains that have
/// a deadline, and the cause-effect chains. For the latter, the bound is that on the reaction time,
/// and the ratio is the larger one of reaction time / limit and age / limit. `worst` and both means
/// are over those that have a bound; they are 0 if there is none.
struct Quality {
  std::size_t not_proved{};  ///< chains
  std::size_t not_bounded{};
  double worst{};          ///< the largest bound / deadline
  double mean{};           ///< the mean of bound / deadline
  double mean_bound_ns{};  ///< the mean of the bounds themselves
  auto operator<=>(const Quality&) const = default;
};

/// The objective of assign(). Every objective first minimises the number of chains without a proved
/// deadline, and then the number of chains without a bound.
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
  /// Whether the result is final. True: Audsley's algorithm chose the order of priorities, so if it
  /// does not prove all deadlines, no order does. This requires one core, chains of one callback
  /// that share no group, and threads that preempt by priority.
  bool optimal{};
  std::string start;  ///< what the search began from, such as "picas"
};

/// Assigns the nodes to CPUs, with one executor per CPU, and priorities to the callbacks, as PiCAS
/// does (Choi, Xiang and Kim, RTAS 2021, section V), and improves that by a search.
///
/// Allocation: all nodes that topics join begin on one core. If they are more than a core can do,
/// each chain is placed by itself, the most urgent first. The heaviest group of nodes goes first,
/// to the least loaded core. Priorities: the search starts from the best of the given ones, rate
/// monotonic, deadline monotonic, PiCAS, and Audsley's algorithm over the chains. Local search over
/// the chain bounds then moves nodes and changes the places of chains in the order of priorities.
/// The result is never worse than the start. With AssignMethod::kPicas there is neither another
/// start nor a search.
///
/// Deterministic; any thread. Throws std::invalid_argument if `options` has no CPUs, and as
/// chain_bounds() does.
RCLRT_ANALYSIS_EXPORT Assignment assign(const model::Application& application,
                                        const AssignOptions& options);

/// Returns the quality of the application, computed by chain_bounds() and cause_effect_bounds().
RCLRT_ANALYSIS_EXPORT Quality quality(const model::Application& application,
                                      const model::ExecutorChoice& executor,
                                      const Overheads& overheads, Effort effort = {});

}  // namespace rclrt::analysis
