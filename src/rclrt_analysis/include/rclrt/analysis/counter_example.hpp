// SPDX-License-Identifier: Apache-2.0
// A schedule in which a deadline is missed, small enough to be written down and run again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/simulation_system.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The limit that a counter-example exceeds.
enum class Limit {
  kDeadline,  ///< of a chain
  kReaction,  ///< CauseEffectChain::max_reaction
  kAge,       ///< CauseEffectChain::max_age
};

/// All inputs that the simulator needs to reproduce the miss.
struct CounterExample {
  model::ExecutorChoice executor;
  std::vector<std::int64_t> offsets_ns{};  ///< one per callback; 0 for those that take messages
  std::vector<int> priorities{};           ///< one per callback
  std::uint64_t seed = 0;
  /// Execution times are drawn by the seed, from this percentage of the WCET up to the WCET.
  int lowest_execution_percent = 100;
  /// Execution times, intervals of events and their lateness are drawn (by `seed`) from only their
  /// least and greatest values. Otherwise events come as often as they may.
  bool extremes = false;
  unsigned cpus = 1;  ///< of executors without stated CPUs
  /// The overheads of the simulated machine. Dispatching, scheduler threads and polling points take
  /// exactly these times. `background` and `stall` are 0, because nothing states when they occur,
  /// and so is `handover`, which the simulator does not have.
  Overheads overheads{};
  /// The lateness of timers and the latencies of messages are random (by `seed`), from this
  /// percentage of their range up to its maximum. 100: always the maximum.
  int lowest_delay_percent = 100;
  /// The schedule begins this long after the application does: all other times count from here.
  /// With `warm_up_ns` above 0 it begins with a time in which nothing takes any CPU time, as
  /// SimulationOptions::warm_up_ns; instances that are released in it do not count.
  std::int64_t begin_ns = 0;
  std::int64_t warm_up_ns = 0;
  std::int64_t horizon_ns = 0;  ///< a simulation up to here shows the miss

  Limit limit = Limit::kDeadline;
  /// Index into Application::chains; with Limit::kReaction and kAge, into cause_effect_chains.
  std::size_t chain = 0;
  /// The number of the chain's release, from 0. With Limit::kReaction and kAge, it is the instance
  /// of the last segment's chain that exceeds the limit; 0 if the reaction never comes.
  std::uint64_t instance = 0;
  /// The nominal release. With kAge, it is that of the data; with kReaction, the time of what
  /// happened.
  std::int64_t release_ns = 0;
  /// The response time of this instance, the reaction time or the age: above the limit. If a
  /// callback never runs or the reaction never comes, it is the wait at the horizon.
  std::int64_t response_ns = 0;
  /// A callback of the chain that was released up to the horizon and never ran.
  std::optional<std::size_t> never_runs{};

  bool operator==(const CounterExample&) const = default;
};

/// The limits of a search.
struct SearchEffort {
  std::uint64_t instances = 400'000;  ///< simulated in all; some 300 ns each
  std::uint64_t per_trial = 20'000;   ///< simulated with one choice of offsets
  std::uint64_t seed = 1;
  InterruptCheck check_interrupt = nullptr;
};

/// The executor, the machine and the effort of a search.
struct Search {
  model::ExecutorChoice executor;
  unsigned cpus = 1;  ///< of executors without stated CPUs; 1: Overheads::cpus, if it is stated
  Overheads overheads{};
  SearchEffort effort{};

  /// Returns the number of CPUs of executors that state none.
  unsigned cpus_of_others() const noexcept {
    return cpus == 1 && overheads.cpus > 0 ? static_cast<unsigned>(overheads.cpus) : cpus;
  }
};

/// The chains for which a search looks for a counter-example.
struct Wanted {
  std::vector<bool> chains;                 ///< one flag per chain
  std::vector<bool> cause_effect_chains{};  ///< one flag per cause-effect chain, or empty: none
};

/// The result of a search.
struct SearchResult {
  std::vector<std::optional<CounterExample>> examples;  ///< one per chain
  /// One per chain: the longest response of a simulated instance divided by the chain's deadline; 0
  /// if none ended. If a callback never runs: the wait of the counter-example divided by the
  /// deadline.
  std::vector<double> closest;
  std::vector<std::optional<CounterExample>> cause_effect_examples{};  ///< one per such chain
  /// One per cause-effect chain, wanted or not: the longest reaction time and age that were
  /// simulated, in ns. 0 if there was none, or if the search wants no cause-effect chain.
  std::vector<std::int64_t> worst_reaction_ns{};
  std::vector<std::int64_t> worst_age_ns{};
};

/// Searches, by simulation, a schedule for each wanted chain in which an instance misses its
/// deadline, and for each wanted cause-effect chain one in which an output exceeds a limit. Returns
/// the earliest miss of that schedule. Chains that are not wanted get no example and zeros.
///
/// The search changes the offsets of timers without a stated offset. Events come as often as they
/// may, those with jitter in bunches of which the first is at the offset; or with random intervals
/// that are the shortest or the longest ones. It first tries all releases at one time, then each
/// release one nanosecond before the chain's, then random offsets. Below a load of 1, it changes
/// short parts of the best schedules: those that begin some periods before the longest response.
/// With stated offsets, schedules may begin up to a year after the start, where releases meet that
/// do not meet at the start; what was released before has taken no time. It
/// tries execution times of the WCET and shorter ones, and timers and messages that are as late as
/// possible, all or only some of them. A callback that was
/// released at least three times in a schedule and never ran is a miss of its chain, too. A search
/// without a result proves nothing. Deterministic; any thread. Throws std::invalid_argument for an
/// application that cannot be simulated.
RCLRT_ANALYSIS_EXPORT SearchResult search_schedules(const model::Application& application,
                                                    const Wanted& wanted, const Search& search);

/// Returns SearchResult::examples of a search for these chains; `wanted` has one flag per chain.
RCLRT_ANALYSIS_EXPORT std::vector<std::optional<CounterExample>> find_counter_examples(
    const model::Application& application, const std::vector<bool>& wanted, const Search& search);

/// Returns a time as days, hours, minutes and seconds, like "3 h 12 min 4.5 s".
RCLRT_ANALYSIS_EXPORT std::string clock_text(std::int64_t time_ns);

/// Returns the application with the offsets and priorities of the counter-example. Throws
/// std::invalid_argument if the counter-example is of another application.
RCLRT_ANALYSIS_EXPORT model::Application counter_example_application(model::Application application,
                                                                     const CounterExample& example);

/// Returns the times that the counter-example simulates with.
RCLRT_ANALYSIS_EXPORT SimulatedTimes counter_example_times(const CounterExample& example);

/// Simulates the counter-example. Returns the response time of its instance in ns, or std::nullopt
/// if the instance does not end before the horizon. If the counter-example states a callback that
/// never runs, returns the time that the instance has waited at the horizon. For Limit::kReaction
/// and kAge, it returns the longest reaction time or age up to the horizon. Throws as
/// counter_example_application() and simulate() do, and std::invalid_argument for more than 50
/// million instances.
RCLRT_ANALYSIS_EXPORT std::optional<std::int64_t> replay(const model::Application& application,
                                                         const CounterExample& example,
                                                         InterruptCheck check_interrupt = nullptr);

/// A schedule in which a task misses its deadline.
struct TaskCounterExample {
  std::vector<Ticks> offsets;  ///< one per task: the arrival of its first job
  /// One per task: the lateness of the first job of each `kJitterCycle` jobs; others are not late.
  std::vector<Ticks> jitter;
  std::size_t task = 0;
  std::uint64_t job = 0;  ///< from 0
  Ticks arrival = 0;
  Ticks response = 0;  ///< from the arrival; above the deadline
  bool operator==(const TaskCounterExample&) const = default;
};

/// A task's release jitter repeats after this number of jobs in a counter-example.
inline constexpr std::size_t kJitterCycle = 1000;

/// Searches, by simulation, a schedule for each wanted task in which a job misses its deadline.
/// `wanted` has one flag per task; nullopt: none was found. In these schedules every job takes its
/// WCET, is not blocked from outside and does not suspend, which is a legal behaviour. Finds
/// nothing for kFpLimitedPreemptive, which it does not support.
RCLRT_ANALYSIS_EXPORT std::vector<std::optional<TaskCounterExample>> find_counter_examples(
    std::span<const Task> tasks, Policy policy, const std::vector<bool>& wanted,
    const SearchEffort& effort = {});

/// Simulates the schedule of a counter-example. Returns the response time of its job, or
/// std::nullopt if the job does not end. Throws std::invalid_argument if the counter-example is of
/// another task set, or takes more than 50 million jobs.
RCLRT_ANALYSIS_EXPORT std::optional<Ticks> replay(std::span<const Task> tasks, Policy policy,
                                                  const TaskCounterExample& example,
                                                  InterruptCheck check_interrupt = nullptr);

}  // namespace rclrt::analysis
