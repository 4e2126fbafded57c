// SPDX-License-Identifier: Apache-2.0
// Observations above a bound, and their cause: something above every priority took the CPU, another
// assumption of the bound did not hold, or nothing that was measured explains them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/machine.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// One instance of a callback in a run. Times are in ns since the start of the run.
struct ObservedInstance {
  std::string callback;
  int priority{};
  Ticks ready{};
  Ticks start{};
  Ticks end{};
  Ticks cpu{};         ///< CPU time that it used
  std::string tokens;  ///< the chain instances that it belongs to, as "chain:0;other:7"
};

/// An interval in which the probe, a thread above all real-time priorities, did not run on the CPU
/// `cpu`. Times are in ns since the start of the run.
struct Stall {
  int cpu{};
  Ticks start{};
  Ticks end{};
  Ticks waited{};  ///< of the interval, the time in which the probe was ready: the kernel kept it
                   ///< waiting
  bool operator==(const Stall&) const = default;
};

/// One instance of a chain in a run, in ns since the start of the run.
struct ObservedChain {
  std::string chain;
  std::int64_t instance{};
  Ticks release{};
  std::optional<Ticks> completion;  ///< absent: it never ended
  bool lost{};                      ///< it was dropped, or stayed unmatched in a sync
};

/// The records of one run.
struct ObservedRun {
  std::vector<ObservedChain> chains;
  std::vector<ObservedInstance> instances;
  std::vector<Stall> stalls;
  Ticks end{};  ///< ns since the start of the run
};

/// A chain and its bound, in the form that observations are compared with.
struct ChainLimit {
  std::string chain;
  std::optional<Ticks> bound;  ///< ns
  /// The lowest priority of a callback that can delay the chain. For a chain through a sync this is
  /// the lowest of all priorities, because any callback may delay another input of the sync.
  int level{};
  std::vector<int> cpus;               ///< of the chain's executors; empty: any CPU
  std::vector<std::string> callbacks;  ///< on the chain's path
  bool meets_all = true;               ///< no instance stays unmatched in a sync
  bool of_one_cpu = false;  ///< the bound needs an executor on one CPU: see needs_one_cpu()
};

/// Returns whether one of a bound's conditions (ChainBound::assumptions) is that an executor runs
/// on one CPU. Pure.
RCLRT_ANALYSIS_EXPORT bool needs_one_cpu(std::span<const std::string> conditions);

/// Converts a chain's bound to the form that observations are compared with. `chain` is an index
/// into Application::chains; `bound` is the chain's result of chain_bounds() or judge(). Pure.
RCLRT_ANALYSIS_EXPORT ChainLimit chain_limit(const model::Application& application,
                                             std::size_t chain, const ChainBound& bound);

/// Returns whether an observed instance is above the bound of its chain. An instance that never
/// ended is above it if it was lost, or if the run lasted longer than the bound after its release;
/// but not if messages of the chain may stay unmatched in a sync (ChainLimit::meets_all is false).
/// Pure.
RCLRT_ANALYSIS_EXPORT bool is_above(const ObservedChain& observed, const ChainLimit& limit,
                                    Ticks end_of_run);

/// Times that the bounds of an executor allow for, in ns.
struct RCLRT_ANALYSIS_EXPORT Allowance {
  std::map<std::string, Ticks> wcet;   ///< of each callback
  std::map<std::string, Ticks> waits;  ///< of each callback that waits: model::Callback::waits
  Ticks each{};                        ///< of dispatching one instance
  Ticks once{};         ///< once per interval: the lateness of a timer, and background work
  double background{};  ///< share of the time that background work takes
  /// How long the kernel holds back real-time threads at a time; 0 if the load is below its limit.
  Ticks held_back{};
  Ticks hop{};                                   ///< of a message from one executor to another
  std::map<std::string, std::size_t> executors;  ///< of each callback
  std::set<std::string> syncs;                   ///< callbacks that no single message releases

  /// Returns what the bounds of the application on the machine allow for. Pure.
  static Allowance of(const model::Application& application, const Machine& machine);

  /// Returns 0 for a callback that the application does not state: a robot may have more.
  Ticks wcet_of(const std::string& callback) const;
  /// Returns for how long the callback may be without the CPU by itself: while it waits, and until
  /// its thread has woken up after that. Returns 0 for a callback that does not wait.
  Ticks waits_of(const std::string& callback) const;
  /// Returns whether only the kernel's limit can explain how long the probe waited.
  bool is_limit(const Stall& stall) const;
  /// Returns the part of the stall that the host or the kernel's limit for real-time threads
  /// caused. While the probe was ready but waited, a more urgent thread had the CPU, so this time
  /// is not part of it, unless only the kernel's limit explains so long a wait.
  Stall excused(const Stall& stall) const;
};

/// Bounds on one CPU that something above every priority takes once, for `stalled` ns. Timers
/// continue during that time, so a bound may grow by more than `stalled`.
struct StalledBounds {
  /// Returns the bound on the chain's response, or std::nullopt if none was found.
  std::function<std::optional<Ticks>(const std::string& chain, Ticks stalled)> bound;
  /// Returns whether an instance of the chain may be dropped because a queue is full.
  std::function<bool(const std::string& chain, Ticks stalled)> may_drop;
};

/// Returns the bounds of an application with a stall of the CPU. The application must outlive the
/// result. Each bound is computed when it is first used. Not thread-safe.
RCLRT_ANALYSIS_EXPORT StalledBounds stalled_bounds(const model::Application& application,
                                                   const model::ExecutorChoice& executor,
                                                   const Machine& machine, Effort effort = {});

/// Why an instance was above its bound.
enum class Cause {
  kHost,         ///< a measurement shows that something above every priority took the CPU, and the
                 ///< bound that allows for that time covers the response
  kAssumption,   ///< a measurement contradicts another assumption of the bound
  kUnexplained,  ///< nothing measured explains it
};

/// Returns "host", "assumption" or "unexplained".
RCLRT_ANALYSIS_EXPORT const char* to_string(Cause cause);

/// One instance of a chain that took longer than its bound, or never ended. Times are in ns.
struct Excess {
  std::string chain;
  std::int64_t instance{};
  Ticks release{};
  std::optional<Ticks> response;
  Ticks bound{};
  Ticks busy_since{};  ///< the last time before the release at which nothing delayed the instance
  Ticks lost{};        ///< since `busy_since`: neither work within its bounds nor overheads need it
  Ticks stalled{};     ///< since `busy_since`: a CPU was measured to stand still
  std::optional<Ticks> stalled_bound;  ///< allows for `stalled`; absent: no bound was found
  Cause cause{Cause::kUnexplained};
  std::string what;  ///< the measurement that shows the cause, or empty
};

/// The allowances, bounds and priorities by which the observations of one executor are judged.
struct ObservationContext {
  model::ExecutorChoice executor;
  Allowance allowed;
  StalledBounds bounds;
  /// The priorities of the callbacks' threads, where they differ from those of the callbacks.
  std::map<std::string, int> levels;
};

/// Returns the context of an application on a machine. The application must outlive it.
RCLRT_ANALYSIS_EXPORT ObservationContext observation_context(const model::Application& application,
                                                             const model::ExecutorChoice& executor,
                                                             const Machine& machine,
                                                             Effort effort = {});

/// Returns every instance above its bound, with its cause, in the order of the run. A chain that
/// has no entry or no bound in `limits` yields no excess. A cause other than kUnexplained always
/// rests on a measurement that shows it.
RCLRT_ANALYSIS_EXPORT std::vector<Excess> judge_observations(const ObservedRun& run,
                                                             std::span<const ChainLimit> limits,
                                                             const ObservationContext& context);

/// Judges a run of an application on a machine by the bounds of judge(). Throws as that does.
RCLRT_ANALYSIS_EXPORT std::vector<Excess> judge_observations(const ObservedRun& run,
                                                             const model::Application& application,
                                                             const model::ExecutorChoice& executor,
                                                             const Machine& machine,
                                                             Effort effort = {});

/// The state of a bound after observations.
enum class BoundStatus {
  kHolds,            ///< none is above it without an excuse
  kConditionBroken,  ///< some are, so one of the bound's conditions does not hold
  kContradicted,     ///< some are above a bound without conditions
};

/// Returns what the observations say about a bound. `above`: the number of instances above the
/// bound that the host did not cause. `conditions`: the number of the bound's conditions. Without
/// `realtime` scheduling in the run, a bound always holds, because such a run is no test of it.
/// Pure.
RCLRT_ANALYSIS_EXPORT BoundStatus status_of(std::size_t above, std::size_t conditions,
                                            bool realtime);

/// The results of all instances of one chain in a run. Times are in ns.
struct ObservedTotals {
  std::uint64_t missed{};      ///< without the instances that were late because of the host
  std::optional<Ticks> worst;  ///< the longest response; absent: no instance ended
  Ticks stalled{};             ///< how long the host stopped CPUs during the run
};

/// Returns whether the totals of a run contradict the verdict kProved: an instance missed its
/// deadline, or the longest response is above `bound` plus the time for which the host stopped
/// CPUs. Returns false for other verdicts. Pure.
RCLRT_ANALYSIS_EXPORT bool contradicts_proof(Verdict verdict, std::optional<Ticks> bound,
                                             const ObservedTotals& observed);

}  // namespace rclrt::analysis
