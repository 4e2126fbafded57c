// SPDX-License-Identifier: Apache-2.0
// The input of a simulation: callbacks, the executors that run them, and CPUs. Plain values.
// `simulated_system` makes one from an application, `simulated_tasks` from a task set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <string>
#include <variant>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/time_distribution.hpp"

namespace rclrt::analysis {

using model::ExecutorKind;

/// An executor and the CPUs of its threads.
struct SimulatedExecutor {
  model::ExecutorChoice choice{};
  std::vector<unsigned> cpus{};            ///< CPUs its threads may run on; empty: all
  std::vector<unsigned> scheduler_cpus{};  ///< of the scheduler thread; empty: as `cpus`
  /// For SetTrigger::kCallback: the callback that the choice names.
  std::optional<std::size_t> trigger_callback{};
  /// The number of workers of each level for kPreemptive and kProducerConsumer, and of all levels
  /// together for kPicas and kEvents; 0: the executor's own default.
  unsigned workers_per_level = 0;
  int top_priority = model::kTopPriority;  ///< of a scheduler thread; its levels have those below
  /// CPU time of each instance from its pick-up by a worker to the first instruction of user code.
  std::int64_t dispatch_ns = 0;
  /// CPU time of the scheduler thread for each instance, for kProducerConsumer and kThreadDispatch.
  std::int64_t scheduler_ns = 0;
  /// CPU time of a polling point that finds work, for kWaitSet.
  std::int64_t polling_ns = 0;
};

/// Releases at times of the timer's grid.
struct TimerTrigger {
  std::int64_t period_ns = 0;
  std::int64_t offset_ns = 0;
  model::OverrunPolicy overrun = model::OverrunPolicy::kCatchUp;
  std::size_t depth = 10;     ///< how many releases may wait
  TimeDistribution jitter{};  ///< from nominal release to ready; only with kCatchUp
};

/// Releases by each message of each input.
struct MessageTrigger {
  std::size_t depth = 10;  ///< of each input
  unsigned inputs = 1;     ///< topics that share the callback
  /// The inputs are the clients of one service. At each polling point of kWaitSet only the oldest
  /// request runs; otherwise one message of each input does.
  bool one_queue = false;
};

/// Releases by each message of each input; user code runs when a message completes a set.
struct SyncTrigger {
  /// The rule by which a sync matches messages.
  enum class Pairing {
    kNearest,  ///< as rclrt's synchronisers: the closest stamps within the window
    kInOrder,  ///< the n-th message of each input: the thesis's model
  };
  std::size_t depth = 10;
  std::int64_t window_ns = 0;  ///< kNearest: how far apart the stamps may be; 0: equal stamps
  Pairing pairing = Pairing::kNearest;
  unsigned inputs = 2;
};

/// Releases from outside the executors, like a message.
struct EventTrigger {
  model::Event event;         ///< its releases are those of model::EventTimes
  std::string id;             ///< of the callback: what the draws depend on
  TimeDistribution jitter{};  ///< from nominal release to ready; none overtakes another
};

/// The destination of a callback's messages, and their latency.
struct Connection {
  std::size_t callback = 0;
  unsigned input = 0;  ///< of those of its trigger
  TimeDistribution latency;
};

/// A callback, its trigger and the destinations of its messages.
struct SimulatedCallback {
  std::size_t executor = 0;
  int level = 0;                     ///< higher is more urgent
  std::optional<std::size_t> group;  ///< callbacks of one number exclude each other
  std::int64_t deadline_ns = 0;      ///< of an instance, from its release; 0: none. For kEdf
  TimeDistribution execution;        ///< CPU time of user code
  model::Overload overload = model::Overload::kQueue;
  std::variant<TimerTrigger, MessageTrigger, SyncTrigger, EventTrigger> trigger;
  /// Callbacks with lower numbers are registered first; equal numbers keep the order of the list.
  std::size_t registration = 0;
  model::Role role = model::Role::kTopic;  ///< of its messages; kWaitSet takes each in its turn
  /// The callback publishes on these topics at its end, one after the other.
  std::vector<std::vector<Connection>> topics;
  /// For each input, the indices (ascending) of the `topics` on which a run for a message of this
  /// input publishes. Empty: every run publishes on all. Only for a MessageTrigger.
  std::vector<std::vector<std::size_t>> routes;
};

/// A path of callbacks that starts at a timer or an event. Its response time is from the nominal
/// release to the end of its last callback.
struct SimulatedChain {
  std::vector<std::size_t> callbacks;
  std::int64_t deadline_ns = 0;  ///< 0: none
  /// For each callback, the inputs (ascending) by which the chain enters it. Empty: any input.
  std::vector<std::vector<std::size_t>> entries;
};

/// A complete system to simulate.
struct SimulatedSystem {
  unsigned cpus = 1;  ///< 1 to 64
  std::vector<SimulatedExecutor> executors;
  std::vector<SimulatedCallback> callbacks;
  std::vector<SimulatedChain> chains;
};

/// Throws std::invalid_argument, naming the callback or executor, for a system that cannot be
/// simulated: an index out of range, times that are negative or above a century, a cycle of
/// messages, a group across executors, EDF on several CPUs or on a CPU shared with another kind.
RCLRT_ANALYSIS_EXPORT void require_valid(const SimulatedSystem& system);

/// Times for `simulated_system` that an app.yaml does not state.
struct SimulatedTimes {
  /// Each callback's execution time is uniform from this share of its WCET up to the WCET.
  double lowest_execution = 1.0;
  std::int64_t dispatch_ns = 0;   ///< see SimulatedExecutor
  std::int64_t scheduler_ns = 0;  ///< see SimulatedExecutor
  std::int64_t polling_ns = 0;    ///< see SimulatedExecutor
  TimeDistribution lateness{};  ///< of an event and of a timer that catches up; others are on time
  TimeDistribution hop{};       ///< of a message between callbacks of one executor
  TimeDistribution far_hop{};   ///< of a message between executors
};

/// Throws std::invalid_argument for a horizon that is negative or above a century.
RCLRT_ANALYSIS_EXPORT void require_valid_horizon(std::int64_t horizon_ns);

/// Returns the application under one executor as a system to simulate. CPUs get new numbers, in
/// ascending order. An executor without stated CPUs gets `cpus_without_statement` of them, or the
/// CPUs that other executors name if these are more. kEdf uses the first CPU of each executor.
RCLRT_ANALYSIS_EXPORT SimulatedSystem simulated_system(const model::Application& application,
                                                       const model::ExecutorChoice& executor,
                                                       const SimulatedTimes& times = {},
                                                       unsigned cpus_without_statement = 1);

}  // namespace rclrt::analysis
