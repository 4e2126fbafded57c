// SPDX-License-Identifier: Apache-2.0
// Executors for unmodified rclcpp nodes that honour priorities and preempt.
//
//     rclrt_rclcpp::PreemptiveExecutor executor;      // was: rclcpp::executors::...Executor
//     executor.add_node(node);
//     executor.set_priority(subscription, 7);         // or a file, see Options::priorities
//     executor.spin();
#pragma once

#include <rclcpp/rclcpp.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "rclrt/executor/edf_executor.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/per_group_executor.hpp"
#include "rclrt/executor/picas_executor.hpp"
#include "rclrt/executor/preemptive_executor.hpp"
#include "rclrt/executor/producer_consumer_executor.hpp"
#include "rclrt/executor/static_order_executor.hpp"
#include "rclrt/executor/thread_dispatch_executor.hpp"
#include "rclrt/executor/workshop_executor.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt_rclcpp/compat.hpp"
#include "rclrt_rclcpp/export.hpp"
#include "rclrt_rclcpp/recording.hpp"

namespace rclrt::model {
struct ExecutorChoice;
}

namespace rclrt_rclcpp {

namespace engine = rclrt::executor;

/// What an executor can be told besides what every rclcpp executor can.
struct Options {
  /// CPUs, real time, reservations, the receiver of instances. Its threads have the process's stack
  /// (`ulimit -s`) unless told otherwise: nobody has measured what unmodified callbacks need.
  engine::ExecutorOptions engine = [] {
    engine::ExecutorOptions result;
    result.stack_size = 0;
    return result;
  }();
  rclcpp::ExecutorOptions ros = {};  ///< the context
  /// A file with priorities, deadlines and overload policies by name (see docs/rclcpp.md); empty:
  /// none. Its values go before those set in code.
  std::filesystem::path priorities = {};
  /// Of a file with several processes (rclrt/model/host.hpp), the one that this is; empty: the file
  /// is of one.
  std::string process = {};
  /// Priorities that have a level of the kernel's besides those of its callbacks, so that they mean
  /// the same in several processes. For executors with levels.
  std::vector<int> levels = {};
  /// Gets every instance and the executor's threads; nullptr: none. Several executors may share
  /// one.
  std::shared_ptr<Recording> recording = nullptr;
  /// Measures the responses of callbacks with deadlines, see CallbackInfo::response_us. Each of
  /// their instances costs a reading of the clock, each of the callbacks 30 KB.
  bool measure_responses = false;
  /// Lets messages without a header count from the stamp of what they were made of, see
  /// Timing::max_age, and shares that of what is published here with the other executors on this
  /// machine. Each node takes 9 KB of shared memory. A Robot with a monitor does so. It needs
  /// spin(): between spins, and in short ones, nobody finds out who publishes.
  bool share_origins = false;
};

/// What may be said of a callback. What is not set comes from what it is part of: its callback
/// group, then its node, then priority 0, no deadline, and `kQueue`.
struct Timing {
  std::optional<int> priority = std::nullopt;  ///< higher is more urgent
  /// From each release to the callback's end.
  std::optional<std::chrono::nanoseconds> deadline = std::nullopt;
  /// Of a subscription, in place of a deadline: from `header.stamp` of the message to the end of
  /// the callback, over whatever nodes and processes have handed the stamp on. A message whose type
  /// has no header counts from where the data counts of the callback that published it: from the
  /// stamp of the message which that was called with, from a timer's release; where nobody tells
  /// (Options::share_origins), from its publication. EDF takes it for a deadline from the arrival.
  std::optional<std::chrono::nanoseconds> max_age = std::nullopt;
  std::optional<engine::Overload> overload = std::nullopt;
};

/// One callback as the executor sees it.
struct CallbackInfo {
  std::string node;   ///< fully qualified; empty when the node is not known or gone
  std::string kind;   ///< timer, subscription, service, client or waitable
  std::string name;   ///< topic or service; of a timer or waitable its index in its group, from 0
  std::size_t group;  ///< index of its callback group in its node, from 0, the default group
  int priority;
  std::chrono::nanoseconds deadline{};  ///< 0: none
  std::chrono::nanoseconds max_age{};   ///< 0: none
  engine::Overload overload;
  engine::Counters counters;
  /// Of a callback with a `max_age`: messages that did not count from their stamp, because it was
  /// zero, more than a second in the future or older than a year, or because they came within the
  /// process, where rclcpp does not show it. These count from their arrival, the others as those
  /// without a header.
  std::uint64_t unstamped = 0;
  /// Of a callback with a `max_age`: messages whose type has no header that count from their
  /// publication, or from that of an earlier message on the way, because no process shares what
  /// published it (Options::share_origins).
  std::uint64_t from_publication = 0;
  /// Responses in microseconds since the callback was added, to 1 %: from what its deadline or age
  /// counts from to the end of user code. nullptr: they are not measured
  /// (Options::measure_responses).
  std::shared_ptr<const rclrt::realtime::Histogram> response_us;
};

/// The base of them all; use one of the classes below.
///
/// `spin` and `spin_until_future_complete` run callbacks on the engine's threads, as
/// MultiThreadedExecutor does; `spin_some`, `spin_all` and `spin_once` on the calling thread, the
/// most urgent first. An exception from a callback ends the spin and is thrown to its caller.
///
/// All public functions may be called from any thread and from callbacks, but for the spins: one
/// thread spins at a time.
class RCLRT_RCLCPP_EXPORT Executor : public rclcpp::Executor {
 public:
  ~Executor() override;

  /// Throws std::runtime_error when it is spinning already, and what a callback throws.
  void spin() override;
  /// Runs what is ready when it begins, on the calling thread, for at most `max_duration`; 0: no
  /// limit.
  void spin_some(std::chrono::nanoseconds max_duration = std::chrono::nanoseconds(0)) override;
  /// Runs until nothing is ready, on the calling thread, for at most `max_duration`; 0: no limit.
  void spin_all(std::chrono::nanoseconds max_duration) override;
  /// Runs one callback on the calling thread, and waits for it at most `timeout`; negative: for
  /// ever.
  void spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) override;
  void cancel() override;

  // When a removal has returned, no callback of what was removed runs or will run; called from a
  // callback of this executor it does not wait for those that run. The same holds of what is added
  // when that throws, as for more levels than there are priorities (std::invalid_argument).
  using rclcpp::Executor::add_node;
  using rclcpp::Executor::remove_node;
  /// Adds a node. Throws std::runtime_error when another executor has it.
  void add_node(compat::NodeArgument node, bool notify = true) override;
  /// Removes a node. Throws std::runtime_error when this executor does not have it.
  void remove_node(compat::NodeArgument node, bool notify = true) override;
  /// Adds a group. Throws std::runtime_error when another executor has it.
  void add_callback_group(compat::GroupArgument group, compat::NodeArgument node,
                          bool notify = true) override;
  /// Removes a group. Throws std::runtime_error when this executor does not have it.
  void remove_callback_group(compat::GroupArgument group, bool notify = true) override;

  // Priorities, before or after the node was added, while it spins or not. They hold as long as
  // what they were given for exists.
  /// Sets what `timing` has; the next six do the same for other parts. Throws std::invalid_argument
  /// for nullptr, a negative deadline, a `max_age` that is not positive, both of them, and for a
  /// `max_age` of anything but a subscription.
  void set_timing(const rclcpp::SubscriptionBase::SharedPtr& subscription, const Timing& timing);
  /// Sets the timing of a timer.
  void set_timing(const rclcpp::TimerBase::SharedPtr& timer, const Timing& timing);
  /// Sets the timing of a service.
  void set_timing(const rclcpp::ServiceBase::SharedPtr& service, const Timing& timing);
  /// Sets the timing of a client.
  void set_timing(const rclcpp::ClientBase::SharedPtr& client, const Timing& timing);
  /// Sets the timing of a waitable.
  void set_timing(const rclcpp::Waitable::SharedPtr& waitable, const Timing& timing);
  /// Sets the timing of a group's callbacks.
  void set_timing(const rclcpp::CallbackGroup::SharedPtr& group, const Timing& timing);
  /// Sets the timing of a node's callbacks.
  void set_timing(const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node,
                  const Timing& timing);
  /// Sets the timing of an rclcpp::Node, an rclcpp_lifecycle::LifecycleNode.
  template <typename NodeT>
    requires requires(NodeT& node) { node.get_node_base_interface(); }
  void set_timing(const std::shared_ptr<NodeT>& node, const Timing& timing) {
    set_timing(node ? node->get_node_base_interface() : nullptr, timing);
  }
  /// Changes the priority alone.
  template <typename Part>
  void set_priority(const std::shared_ptr<Part>& part, int priority) {
    set_timing(part, Timing{.priority = priority});
  }

  /// Returns every callback it has now, by node, group, kind and name.
  std::vector<CallbackInfo> callbacks();
  /// Returns the entries of the node priorities file that fit nothing now, as "file:line: what".
  std::vector<std::string> unmatched(bool with_guess = false);
  /// Writes a node priorities file that names every callback, with what it has now.
  void write_priorities(std::ostream& out);

  /// Returns the engine: whether it is real time, its counters, its options.
  const engine::Executor& engine() const noexcept;

 protected:
  using MakeEngine =
      std::function<std::unique_ptr<engine::Executor>(engine::ExecutorOptions options)>;
  /// Makes an executor of what `make_engine` makes of the options.
  Executor(Options options, const rclrt::model::ExecutorChoice& choice,
           const MakeEngine& make_engine);

  /// Runs until the future is ready; called by spin_until_future_complete.
  rclcpp::FutureReturnCode spin_until_future_complete_impl(
      std::chrono::nanoseconds timeout,
      const std::function<std::future_status(std::chrono::nanoseconds wait_time)>& wait_for_future)
      override;
  /// Runs one callback on the calling thread.
  void spin_once_impl(std::chrono::nanoseconds timeout) override;

 private:
  class EntityRegistry;
  class Spinning;

  static std::unique_ptr<EntityRegistry> make_registry(Executor& self, const Options& options,
                                                       const rclrt::model::ExecutorChoice& choice,
                                                       const MakeEngine& make_engine);
  bool goes_on() const;

  const std::unique_ptr<EntityRegistry> registry_;
  bool active_ = false;  // somebody is in a spin; guarded by mutex_
};

/// A SCHED_FIFO thread per priority and CPU; the kernel preempts. The default choice.
class RCLRT_RCLCPP_EXPORT PreemptiveExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for a node priorities file with mistakes (each with its place).
  /// As the others, it takes rclcpp's options, too.
  explicit PreemptiveExecutor(Options options = {});
  /// Makes an executor with rclcpp's options.
  explicit PreemptiveExecutor(const rclcpp::ExecutorOptions& options);
  ~PreemptiveExecutor() override;
};

/// The thesis's producer-consumer model: a scheduler thread, and consumers per priority.
class RCLRT_RCLCPP_EXPORT ProducerConsumerExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's.
  explicit ProducerConsumerExecutor(Options options = {});
  /// Makes an executor with rclcpp's options.
  explicit ProducerConsumerExecutor(const rclcpp::ExecutorOptions& options);
  ~ProducerConsumerExecutor() override;
};

/// The thesis's thread-dispatch model: a one-off thread for each instance.
class RCLRT_RCLCPP_EXPORT ThreadDispatchExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's.
  explicit ThreadDispatchExecutor(Options options = {});
  /// Makes an executor with rclcpp's options.
  explicit ThreadDispatchExecutor(const rclcpp::ExecutorOptions& options);
  ~ThreadDispatchExecutor() override;
};

/// Earliest deadline first on one CPU. Deadlines come from `Timing::deadline`; a steady timer has
/// its period for one; what has none runs in the background.
class RCLRT_RCLCPP_EXPORT EdfExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's.
  explicit EdfExecutor(Options options = {});
  /// Makes an executor with rclcpp's options.
  explicit EdfExecutor(const rclcpp::ExecutorOptions& options);
  ~EdfExecutor() override;
};

/// Runs the most urgent callback that is ready, to its end, on one thread. See
/// rclrt::executor::PicasExecutor.
class RCLRT_RCLCPP_EXPORT PicasExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit PicasExecutor(Options options = {});
  /// Takes rclcpp's options, of which the context counts.
  explicit PicasExecutor(const rclcpp::ExecutorOptions& options);
  ~PicasExecutor() override;
};

/// Runs each callback group on a thread of its own. See rclrt::executor::PerGroupExecutor.
class RCLRT_RCLCPP_EXPORT PerGroupExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit PerGroupExecutor(Options options = {});
  /// Takes rclcpp's options, of which the context counts.
  explicit PerGroupExecutor(const rclcpp::ExecutorOptions& options);
  ~PerGroupExecutor() override;
};

/// Runs sets of what is ready in order of priority on one thread, when a trigger holds. See
/// rclrt::executor::StaticOrderExecutor. Each rclcpp::Node has subscriptions of its own, such as to
/// /parameter_events, which trigger_all() would wait for, too.
class RCLRT_RCLCPP_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other, for logical execution
  /// time (rclcpp's subscriptions take their messages when they run), and for a trigger of one's
  /// own beside a recording's application, whose bounds know none.
  explicit StaticOrderExecutor(Options options = {},
                               const engine::StaticOrderOptions& static_order = {});
  /// Takes rclcpp's options, of which the context counts.
  explicit StaticOrderExecutor(const rclcpp::ExecutorOptions& options);
  ~StaticOrderExecutor() override;
};

/// Keeps a pool of threads that take the priority of what they run. See
/// rclrt::executor::WorkshopExecutor.
class RCLRT_RCLCPP_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit WorkshopExecutor(Options options = {}, const engine::WorkshopOptions& workshop = {});
  /// Takes rclcpp's options, of which the context counts.
  explicit WorkshopExecutor(const rclcpp::ExecutorOptions& options);
  ~WorkshopExecutor() override;
};

}  // namespace rclrt_rclcpp
