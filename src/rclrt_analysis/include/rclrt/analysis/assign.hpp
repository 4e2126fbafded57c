// SPDX-License-Identifier: Apache-2.0
// Assignment of callbacks to executors and CPUs, and of priorities to callbacks and tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::size_t conditional{};  ///< chains with a proof that has conditions
  double worst{};             ///< the largest bound / deadline
  double mean{};              ///< the mean of bound / deadline
  double mean_bound_ns{};     ///< the mean of the bounds themselves
  auto operator<=>(const Quality&) const = default;
};

/// The objective of assign(). Every objective first minimises the number of chains without a proved
/// deadline, then the number of chains without a bound, and then that of chains with conditions.
enum class Objective {
  kFeasible,     ///< nothing more: the search ends when all are proved
  kMaxSlack,     ///< the least Quality::worst: the most slack at the tightest deadline
  kMinResponse,  ///< the least Quality::mean_bound_ns
};

/// Returns whether `a` is better than `b`.
RCLRT_ANALYSIS_EXPORT bool better(const Quality& a, const Quality& b, Objective objective);

/// How CPUs are chosen for callbacks, and priorities.
enum class AssignMethod {
  kSearch,  ///< local search over the bounds, from the best of several starts
  kPicas,   ///< PiCAS's allocation and priorities, as they are
};

/// The CPUs of the executors.
enum class Layout {
  kStated,       ///< the executors of the file, with their callbacks and CPUs
  kPartitioned,  ///< each executor has one CPU
  kClustered,    ///< several executors, each with CPUs of its own, some with more than one
  kGlobal,       ///< each executor has all CPUs: one executor for each process
};

/// The callbacks that have one executor.
enum class PlacedUnit {
  kGroup,    ///< the members of a callback group; a callback without a group by itself
  kNode,     ///< all callbacks of a node
  kProcess,  ///< all callbacks of a process
};

/// The state of a search, for a display.
struct AssignProgress {
  std::size_t evaluations{};       ///< so far
  std::size_t most_evaluations{};  ///< at most
  Quality best{};                  ///< of the best assignment so far
  Layout layout{};                 ///< of the same
};

/// An exception for AssignOptions::check_interrupt: it ends the search, and assign() returns the
/// best assignment so far.
struct StopSearch {};

/// The constraints and the effort of an assignment.
struct AssignOptions {
  std::vector<int> cpus{0};  ///< different CPUs that executors may use
  ExecutorKind executor{ExecutorKind::kPreemptive};
  Overheads overheads{};
  AssignMethod method{AssignMethod::kSearch};
  Objective objective{Objective::kMaxSlack};
  std::optional<Layout> layout{};  ///< nullopt: all layouts are tried
  PlacedUnit unit{PlacedUnit::kGroup};
  std::size_t evaluations = 2000;  ///< evaluations of all chain bounds, at most; for kSearch
  std::uint64_t seed = 1;
  /// An exception passes through assign(), except for StopSearch.
  InterruptCheck check_interrupt = nullptr;
  std::function<void(const AssignProgress&)> on_progress{};  ///< called after each evaluation
};

/// The best assignment that was found with one layout.
struct LayoutResult {
  Layout layout{};
  std::size_t most_cpus{};  ///< of an executor
  Quality quality;
  std::size_t evaluations{};
  bool chosen{};
};

/// An application with callbacks on executors, and priorities of callbacks.
struct Assignment {
  model::Application application;  ///< with its new executors and priorities
  Quality before;                  ///< of the application as it is
  Quality after;
  std::size_t evaluations{};
  /// Whether the result is final. True: Audsley's algorithm chose the order of priorities, so if it
  /// does not prove all deadlines, no order does. This requires one core, chains of one callback
  /// that share no group, and threads that preempt by priority.
  bool optimal{};
  std::string start;                  ///< what the search began from, such as "picas"
  std::vector<LayoutResult> layouts;  ///< all that were tried, in the order of Layout
  /// Why there are no more layouts, as a sentence; empty: all were tried, or one was asked for.
  std::string not_tried;
  bool stopped{};  ///< StopSearch has ended the search
};

/// Assigns the callbacks to executors, the executors to CPUs, and priorities to the callbacks.
///
/// The members of a callback group have one executor, and so has each callback without a group
/// (AssignOptions::unit: or whole nodes, or whole processes). An executor has callbacks of one
/// process. The result states the executor of a callback only if it
/// is not that of its node. Executors have no CPU in common, except for those of several processes;
/// these get values of Executor::top_priority that are as far apart as they have priorities.
///
/// Layouts: the executors of the file, if they use no other CPUs than `options` has; one executor
/// for each CPU; clusters of 2 CPUs up to half of them; one executor on all CPUs. Kinds of
/// executors without bounds on several CPUs have the first two only. Each layout begins with
/// several allocations: PiCAS's (Choi, Xiang and Kim, RTAS 2021, section V), by which all nodes
/// that topics join begin on one core, unless they are more than it can do; whole chains, and
/// single groups, the heaviest first, each where there is the most room. For each of them the
/// priorities are the given ones, rate monotonic, deadline monotonic, PiCAS's, and, if these prove
/// too little, those of Audsley's algorithm over the chains.
///
/// Local search over the chain bounds improves the best start of each layout. Its moves prefer the
/// chains that exceed their deadline most: they raise such a chain above one that delays it, or
/// move a callback of either to another executor. The layouts with the worse results drop out, so
/// the best one gets most evaluations. The result is never worse than the application as it is, if
/// that uses no other CPUs. With AssignMethod::kPicas there is neither another start nor a search.
///
/// Deterministic; any thread. Throws std::invalid_argument if `options` has no CPUs or a layout
/// that is not possible, and as chain_bounds() does; StopSearch if the search is stopped before
/// there is a result.
RCLRT_ANALYSIS_EXPORT Assignment assign(const model::Application& application,
                                        const AssignOptions& options);

/// Returns the quality of the application, computed by chain_bounds() and cause_effect_bounds().
RCLRT_ANALYSIS_EXPORT Quality quality(const model::Application& application,
                                      const model::ExecutorChoice& executor,
                                      const Overheads& overheads, Effort effort = {});

}  // namespace rclrt::analysis
