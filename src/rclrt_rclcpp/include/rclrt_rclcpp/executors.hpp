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
#include <string_view>
#include <vector>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/kinds.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt_rclcpp/compat.hpp"
#include "rclrt_rclcpp/export.hpp"
#include "rclrt_rclcpp/origins.hpp"
#include "rclrt_rclcpp/stamped_ends.hpp"

namespace rclrt_rclcpp {

namespace engine = rclrt::executor;

class Observer;

/// Options of an executor besides those of every rclcpp executor.
struct Options {
  /// The options of the engine: CPUs, real time, reservations, the receiver of instances. By
  /// default the threads have the process's stack size (`ulimit -s`), because it is not known how
  /// much stack the callbacks need.
  engine::ExecutorOptions engine = [] {
    engine::ExecutorOptions result;
    result.stack_size = 0;
    return result;
  }();
  rclcpp::ExecutorOptions ros = {};  ///< the context
  /// A file with priorities, deadlines and overload policies by name (see
  /// docs/reference/robot-yaml.md). Its values override those set in code. Empty: no file.
  std::filesystem::path priorities = {};
  /// The name of this process in a file with several processes (rclrt/model/host.hpp). Empty: the
  /// file describes a single process.
  std::string process = {};
  /// Priorities that get a SCHED_FIFO priority although no callback of this process may have them.
  /// With the same list in several processes, a priority has the same SCHED_FIFO priority in all of
  /// them. Only for executors that map priorities to SCHED_FIFO priorities.
  std::vector<int> levels = {};
  /// Records every callback with its instances, for example rclrt_robot::Recording; nullptr:
  /// nothing is recorded. Several executors may share one object. See rclrt_rclcpp/observer.hpp.
  std::shared_ptr<Observer> recording = nullptr;
  /// Measures the response times of callbacks with deadlines, see CallbackInfo::response_us. Costs
  /// one reading of the clock per instance and 30 KB of memory per callback.
  bool measure_responses = false;
  /// Shares the times at which data was made (its origins) with the other executors on this
  /// machine. So the age of a message without a header counts from the stamp of the data that it
  /// was made from, see Timing::max_age. rclrt_robot::share_origins makes such an object, and a
  /// Robot with a monitor sets it. nullptr: origins are not shared. New publishers are looked up
  /// only during spin(), not in short spins or between spins.
  MakeOriginSharing origins = nullptr;
};

/// The timing of a callback. A member without a value takes its value from the callback group, else
/// from the node, else from the defaults: priority 0, no deadline, and `kQueue`.
struct Timing {
  std::optional<int> priority = std::nullopt;  ///< higher is more urgent
  /// Time from each release to the callback's end.
  std::optional<std::chrono::nanoseconds> deadline = std::nullopt;
  /// For subscriptions, instead of a deadline: the largest time from `header.stamp` of the message
  /// to the end of the callback. The stamp may have been forwarded by several nodes and processes.
  /// For a message type without a header, the time counts from the origin of the data: the stamp of
  /// the message that the publishing callback received, the oldest data that its timer sampled
  /// (rclrt_rclcpp/sampling.hpp), or the release of its timer. If the origin is not shared
  /// (Options::origins), the time counts from the publication of the message. EDF uses max_age as
  /// a deadline from the arrival.
  ///
  /// For timers: the largest time from the oldest data that the timer has sampled to the end of its
  /// callback. An instance that sampled none counts from its release, and so does EDF.
  std::optional<std::chrono::nanoseconds> max_age = std::nullopt;
  std::optional<engine::Overload> overload = std::nullopt;
  /// With the `max_age` of a subscription: the host that stamps the messages, by its name in `rclrt
  /// clock`. The executor then counts a deadline of `max_age` from the arrival, because the clocks
  /// of the two hosts differ. Instances go to CallbackInfo::stamped_ends, with which a monitor
  /// finds the age.
  std::optional<std::string> stamped_by = std::nullopt;
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
  /// For a callback with a `max_age`: the number of messages that have a header, but did not count
  /// from its stamp. Either the stamp was zero, more than a second in the future or older than a
  /// year: then the age counts as for a message without a header. Or the message came within the
  /// process, where rclcpp does not show it: then the age counts from the arrival.
  std::uint64_t unstamped = 0;
  /// For a callback with a `max_age`: the number of messages without a header that count from their
  /// publication, or from the publication of an earlier message of the chain, because no process
  /// shares the origin of the data (Options::origins). For a timer: the number of instances that
  /// sampled such messages.
  std::uint64_t from_publication = 0;
  std::chrono::nanoseconds period{};  ///< of a timer, by its clock; 0: no timer
  /// For a timer that is not cancelled: how long ago its next call was due, by its clock. It grows
  /// while the timer waits for its thread or group, and while its callback runs. 0: not due.
  std::chrono::nanoseconds overdue{};
  /// The response times in microseconds since the callback was added, with an error of at most 1 %.
  /// A response time begins when the deadline or age begins to count, and lasts to the end of user
  /// code. nullptr: response times are not measured (Options::measure_responses).
  std::shared_ptr<const rclrt::realtime::Histogram> response_us;
  std::string stamped_by;                     ///< see Timing::stamped_by; empty: this host
  std::shared_ptr<StampedEnds> stamped_ends;  ///< of `stamped_by`; nullptr: none
};

/// Returns the name of a callback as it is in reports: "/lidar timer 0", "/lidar group 1 timer 0".
/// Thread-safe.
RCLRT_RCLCPP_EXPORT std::string to_string(const CallbackInfo& callback);

/// The base class of all executors; use one of the derived classes below.
///
/// `spin` and `spin_until_future_complete` run callbacks on the engine's threads, as
/// MultiThreadedExecutor does; `spin_some`, `spin_all` and `spin_once` run them on the calling
/// thread, the most urgent first. An exception from a callback ends the spin and is rethrown to the
/// caller of the spin.
///
/// All public functions except the spins may be called from any thread and from callbacks; only one
/// thread spins at a time.
class RCLRT_RCLCPP_EXPORT Executor : public rclcpp::Executor {
 public:
  ~Executor() override;

  /// Runs callbacks until cancel() or a shutdown. Throws std::runtime_error if the executor is
  /// spinning already, and rethrows the exceptions of callbacks.
  void spin() override;
  /// Runs the callbacks that are ready now, on the calling thread, for at most `max_duration`; 0:
  /// no time limit.
  void spin_some(std::chrono::nanoseconds max_duration = std::chrono::nanoseconds(0)) override;
  /// Runs until nothing is ready, on the calling thread, for at most `max_duration`; 0: no limit.
  void spin_all(std::chrono::nanoseconds max_duration) override;
  /// Runs one callback on the calling thread. If none is ready, waits for one at most `timeout`;
  /// negative: no limit.
  void spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) override;
  void cancel() override;

  // After a removal has returned, no callback of the removed entity is running or will run. There
  // is one exception: a removal that a callback of this executor calls does not wait for running
  // callbacks. If an addition throws (for example std::invalid_argument, because there are more
  // levels than SCHED_FIFO priorities), the same holds for the entity that was not added.
  using rclcpp::Executor::add_node;
  using rclcpp::Executor::remove_node;
  /// Adds a node. Throws std::runtime_error if another executor has it.
  void add_node(compat::NodeArgument node, bool notify = true) override;
  /// Removes a node. Throws std::runtime_error if this executor does not have it.
  void remove_node(compat::NodeArgument node, bool notify = true) override;
  /// Adds a group. Throws std::runtime_error if another executor has it.
  void add_callback_group(compat::GroupArgument group, compat::NodeArgument node,
                          bool notify = true) override;
  /// Removes a group. Throws std::runtime_error if this executor does not have it.
  void remove_callback_group(compat::GroupArgument group, bool notify = true) override;

  // Timings can be set before or after the node is added, while the executor spins or not. A timing
  // holds as long as its entity, group or node exists.
  /// Sets the timing of a subscription: only the members of `timing` that have a value. The next
  /// six functions do the same for other entities, groups and nodes. Throws std::invalid_argument
  /// for nullptr, a negative deadline, a `max_age` that is not positive, a deadline together with a
  /// `max_age`, and a `max_age` for anything but a subscription or a timer.
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
  /// Changes only the priority.
  template <typename Part>
  void set_priority(const std::shared_ptr<Part>& part, int priority) {
    set_timing(part, Timing{.priority = priority});
  }

  /// Returns all current callbacks, sorted by node, group, kind and name.
  std::vector<CallbackInfo> callbacks();
  /// Returns the entries of the node priorities file that match nothing now, as "file:line: what".
  std::vector<std::string> unmatched(bool with_guess = false);
  /// Writes a node priorities file that names every callback with its current values. The callbacks
  /// that rclcpp makes for every node, such as the services for its parameters, come last.
  void write_priorities(std::ostream& out);

  /// Returns the engine, with its real-time state, its counters and its options.
  const engine::Executor& engine() const noexcept;

 protected:
  /// Makes an executor of a kind, by its name in files. Throws as `make_executor`.
  Executor(const Options& options, std::string_view kind,
           const engine::KindOptions& kind_options = {});

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
                                                       std::string_view kind,
                                                       const engine::KindOptions& kind_options);
  bool goes_on() const;

  const std::unique_ptr<EntityRegistry> registry_;
  bool active_ = false;  // true during a spin; guarded by mutex_
};

/// A SCHED_FIFO thread per priority and CPU; the kernel preempts. The default choice.
class RCLRT_RCLCPP_EXPORT PreemptiveExecutor final : public Executor {
 public:
  /// Makes the executor; like the other executors, it also accepts rclcpp's options. Throws
  /// std::invalid_argument for mistakes in the file with priorities; the text lists each mistake
  /// with its place in the file.
  explicit PreemptiveExecutor(const Options& options = {});
  /// Makes an executor with rclcpp's options.
  explicit PreemptiveExecutor(const rclcpp::ExecutorOptions& options);
  ~PreemptiveExecutor() override;
};

/// The thesis's producer-consumer model: a scheduler thread, and consumers per priority.
class RCLRT_RCLCPP_EXPORT ProducerConsumerExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's constructor.
  explicit ProducerConsumerExecutor(const Options& options = {});
  /// Makes an executor with rclcpp's options.
  explicit ProducerConsumerExecutor(const rclcpp::ExecutorOptions& options);
  ~ProducerConsumerExecutor() override;
};

/// The thesis's thread-dispatch model: a one-off thread for each instance.
class RCLRT_RCLCPP_EXPORT ThreadDispatchExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's constructor.
  explicit ThreadDispatchExecutor(const Options& options = {});
  /// Makes an executor with rclcpp's options.
  explicit ThreadDispatchExecutor(const rclcpp::ExecutorOptions& options);
  ~ThreadDispatchExecutor() override;
};

/// Runs the callback with the earliest deadline first, on one CPU. The deadline is
/// `Timing::deadline`; for a timer on the steady clock it is the period by default. A callback
/// without a deadline runs in the background.
class RCLRT_RCLCPP_EXPORT EdfExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's.
  explicit EdfExecutor(const Options& options = {});
  /// Makes an executor with rclcpp's options.
  explicit EdfExecutor(const rclcpp::ExecutorOptions& options);
  ~EdfExecutor() override;
};

/// Runs callbacks on one thread, each to its end, the most urgent ready callback first. See
/// rclrt::executor::PicasExecutor.
class RCLRT_RCLCPP_EXPORT PicasExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit PicasExecutor(const Options& options = {});
  /// Takes rclcpp's options, of which only the context is used.
  explicit PicasExecutor(const rclcpp::ExecutorOptions& options);
  ~PicasExecutor() override;
};

/// Runs each callback group on its own thread. See rclrt::executor::PerGroupExecutor.
class RCLRT_RCLCPP_EXPORT PerGroupExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit PerGroupExecutor(const Options& options = {});
  /// Takes rclcpp's options, of which only the context is used.
  explicit PerGroupExecutor(const rclcpp::ExecutorOptions& options);
  ~PerGroupExecutor() override;
};

/// Runs sets of ready callbacks on one thread, in order of priority, each time a trigger holds. See
/// rclrt::executor::StaticOrderExecutor. Do not use trigger_all(): each rclcpp::Node has
/// subscriptions of its own, such as to /parameter_events, and trigger_all() waits for these, too.
class RCLRT_RCLCPP_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument in three cases. Options contradict each other. Logical execution
  /// time is requested, which is not possible because rclcpp's subscriptions take their messages
  /// when they run. Or a user-defined trigger is used together with a recording that has an
  /// application, because the bounds of the application do not cover such triggers.
  explicit StaticOrderExecutor(const Options& options = {},
                               const engine::StaticOrderOptions& static_order = {});
  /// Takes rclcpp's options, of which only the context is used.
  explicit StaticOrderExecutor(const rclcpp::ExecutorOptions& options);
  ~StaticOrderExecutor() override;
};

/// Runs callbacks on a pool of threads; a thread takes the priority of the callback that it runs.
/// See rclrt::executor::WorkshopExecutor.
class RCLRT_RCLCPP_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit WorkshopExecutor(const Options& options = {},
                            const engine::WorkshopOptions& workshop = {});
  /// Takes rclcpp's options, of which only the context is used.
  explicit WorkshopExecutor(const rclcpp::ExecutorOptions& options);
  ~WorkshopExecutor() override;
};

/// Makes an executor of the kind with this name, as in files; `rclrt::model::rclcpp_executor_kinds`
/// has the names. Throws std::invalid_argument for another name, and the exceptions of the
/// constructor of the executor's class. Thread-safe.
RCLRT_RCLCPP_EXPORT std::shared_ptr<Executor> make_executor(
    std::string_view kind, const Options& options, const engine::KindOptions& kind_options = {});

}  // namespace rclrt_rclcpp
