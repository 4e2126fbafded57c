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
  /// The number of worker threads: of each priority level for kPreemptive and kProducerConsumer, of
  /// all levels together for kPicas and kEvents. 0: the executor's own default.
  unsigned workers_per_level = 0;
  int top_priority = model::kTopPriority;  ///< of a scheduler thread; its levels have those below
  /// CPU time of each instance from its pick-up by a worker to the first instruction of user code.
  std::int64_t dispatch_ns = 0;
  /// CPU time of the scheduler thread for each instance, for kProducerConsumer and kThreadDispatch.
  std::int64_t scheduler_ns = 0;
  /// CPU time of a polling point that finds work, for kWaitSet.
  std::int64_t polling_ns = 0;
  /// For kEdf: an instance preempts any other with a later deadline, as in the model of a task set.
  /// By default its relative deadline must also be shorter, as in rclrt's executor. The two differ
  /// for instances that are ready late.
  bool preempts_by_absolute_deadline = false;
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
  /// Whether the inputs are the clients of one service, with one queue. If true, only the oldest
  /// request runs at each polling point of kWaitSet; otherwise one message of each input runs.
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

/// One direction of a link between hosts. It sends packet by packet. Other traffic sends as much as
/// it may at once, in some of the periods in which messages wait.
struct SimulatedLink {
  model::NetworkLink link;
  std::size_t from = 0;  ///< host of which cross traffic counts, as in CrossTraffic::from
};

/// The destination of a callback's messages, and their latency.
struct Connection {
  std::size_t callback = 0;
  unsigned input = 0;  ///< of those of its trigger
  TimeDistribution latency{};
  /// Index into SimulatedSystem::links, which the message takes before its latency.
  std::optional<std::size_t> link{};
  /// Sizes in bytes on that link, at least one. Some messages are smaller: they lack the first
  /// ones.
  std::vector<std::size_t> packets{};
  int priority = 0;  ///< on that link
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
  /// Only for a MessageTrigger. For each input: the topics on which the callback publishes when it
  /// runs for a message of this input, as ascending indices into `topics`. Empty: each run
  /// publishes on all topics.
  std::vector<std::vector<std::size_t>> routes;
  /// How long each run waits without a CPU. Its thread and its group stay with it. A run without
  /// execution time does not wait.
  TimeDistribution wait{};
  /// Where in its execution time a run waits.
  enum class WaitPlace {
    kAnywhere,  ///< each place is equally likely
    kExtremes,  ///< at the begin, in the middle or at the end
  };
  WaitPlace wait_place = WaitPlace::kAnywhere;
};

/// A path of callbacks that starts at a timer or an event. Its response time is the time from the
/// nominal release of the first callback to the end of the last one.
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
  std::vector<SimulatedLink> links{};
};

/// Throws std::invalid_argument, with the callback or executor, if the system cannot be simulated:
/// an index is out of range, a time is negative or above a century, messages form a cycle, a group
/// has callbacks of several executors, or EDF has several CPUs or a CPU that it shares with another
/// kind.
RCLRT_ANALYSIS_EXPORT void require_valid(const SimulatedSystem& system);

/// Times for `simulated_system` that an app.yaml does not state.
struct SimulatedTimes {
  /// Each callback's execution time is uniform from this share of its WCET up to the WCET, and so
  /// is the time for which it waits.
  double lowest_execution = 1.0;
  /// Each execution time is only that share of the WCET or the WCET, with equal probability. A
  /// callback then waits not at all or as long as it may, at the begin, in the middle or at the
  /// end.
  bool extremes = false;
  std::int64_t dispatch_ns = 0;   ///< see SimulatedExecutor
  std::int64_t scheduler_ns = 0;  ///< see SimulatedExecutor
  std::int64_t polling_ns = 0;    ///< see SimulatedExecutor
  TimeDistribution lateness{};  ///< of an event and of a timer that catches up; others are on time
  TimeDistribution hop{};       ///< of a message between callbacks of one executor
  TimeDistribution far_hop{};   ///< of a message between executors
};

/// Throws std::invalid_argument for a horizon that is negative or above a century.
RCLRT_ANALYSIS_EXPORT void require_valid_horizon(std::int64_t horizon_ns);

/// Converts an application under one kind of executor to a system to simulate. CPUs are numbered
/// anew from 0, in ascending order. An executor that states no CPUs gets `cpus_without_statement`
/// of them, or as many as the other executors name if these are more. kEdf uses only the first CPU
/// of each executor. With hosts, CPUs are counted for each of them, and links have both of their
/// directions, as in model::link_directions(). Messages between hosts without a link take no time
/// on the way but `far_hop`; those of which the size is not stated count as empty.
RCLRT_ANALYSIS_EXPORT SimulatedSystem simulated_system(const model::Application& application,
                                                       const model::ExecutorChoice& executor,
                                                       const SimulatedTimes& times = {},
                                                       unsigned cpus_without_statement = 1);

}  // namespace rclrt::analysis
