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

namespace rclrt_rclcpp {

namespace engine = rclrt::executor;

class Observer;

/// Options of an executor besides those of every rclcpp executor.
struct Options {
  /// CPUs, real time, reservations, the receiver of instances. By default the threads have the
  /// process's stack size (`ulimit -s`), because the need of unmodified callbacks has not been
  /// measured.
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
  /// Priorities that get a priority of the kernel in addition to those of the callbacks, so that
  /// they mean the same in several processes. For executors that map priorities to the kernel's.
  std::vector<int> levels = {};
  /// Observes every callback with its instances, such as rclrt_robot::Recording; nullptr: none.
  /// Several executors may share one. See rclrt_rclcpp/observer.hpp.
  std::shared_ptr<Observer> recording = nullptr;
  /// Measures the responses of callbacks with deadlines, see CallbackInfo::response_us. Costs one
  /// reading of the clock per instance and 30 KB per callback.
  bool measure_responses = false;
  /// Lets a message without a header count from the stamp of the data that it was made from, see
  /// Timing::max_age. Also shares this origin for messages published here with the other executors
  /// on this machine: rclrt_robot::share_origins, which a Robot with a monitor sets. nullptr:
  /// neither. It needs spin(): between spins, and in short ones, new publishers are not looked up.
  MakeOriginSharing origins = nullptr;
};

/// Timing of a callback. A member that is not set comes from the callback group, then from the
/// node, then from the defaults: priority 0, no deadline, and `kQueue`.
struct Timing {
  std::optional<int> priority = std::nullopt;  ///< higher is more urgent
  /// Time from each release to the callback's end.
  std::optional<std::chrono::nanoseconds> deadline = std::nullopt;
  /// For subscriptions, instead of a deadline: the time from `header.stamp` of the message to the
  /// end of the callback, across all nodes and processes that forwarded the stamp. A message type
  /// without a header counts from the origin of the publishing callback's data: the stamp of the
  /// message that this callback received, or the release of its timer. If the origin is not shared
  /// (Options::origins), the message counts from its publication. EDF uses it as a deadline
  /// from the arrival.
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
  /// For a callback with a `max_age`: messages that did not count from their stamp. The stamp was
  /// zero, more than a second in the future or older than a year, or the message came within the
  /// process, where rclcpp does not show it. The latter count from their arrival, the others as
  /// messages without a header.
  std::uint64_t unstamped = 0;
  /// For a callback with a `max_age`: messages without a header that count from their publication,
  /// or from the publication of an earlier message of the chain, because no process shares the
  /// origin of the data (Options::origins).
  std::uint64_t from_publication = 0;
  /// Responses in microseconds since the callback was added, to 1 %, from the start of the deadline
  /// or age to the end of user code. nullptr: they are not measured (Options::measure_responses).
  std::shared_ptr<const rclrt::realtime::Histogram> response_us;
};

/// Returns the name of a callback, as in the engine: "/lidar timer 0", "/lidar group 1 timer 0".
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

  /// Throws std::runtime_error if the executor is spinning already, and rethrows the exceptions of
  /// callbacks.
  void spin() override;
  /// Runs the callbacks that are ready when it begins, on the calling thread, for at most
  /// `max_duration`; 0: no limit.
  void spin_some(std::chrono::nanoseconds max_duration = std::chrono::nanoseconds(0)) override;
  /// Runs until nothing is ready, on the calling thread, for at most `max_duration`; 0: no limit.
  void spin_all(std::chrono::nanoseconds max_duration) override;
  /// Runs one callback on the calling thread, and waits for it at most `timeout`; negative: no
  /// limit.
  void spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) override;
  void cancel() override;

  // After a removal returns, no callback of the removed entity runs or will run. Called from a
  // callback of this executor, a removal does not wait for running callbacks. The same holds for an
  // addition that throws, such as for more levels than there are priorities
  // (std::invalid_argument).
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
  /// Sets the members that `timing` has; the next six functions do the same for other parts. Throws
  /// std::invalid_argument for nullptr, a negative deadline, a `max_age` that is not positive, both
  /// of them, and a `max_age` for anything but a subscription.
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
  /// Writes a node priorities file that names every callback with its current values.
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
  /// Throws std::invalid_argument for a node priorities file with mistakes (each with its place).
  /// Like the other executors, it also accepts rclcpp's options.
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

/// Earliest deadline first on one CPU. Deadlines come from `Timing::deadline`; the deadline of a
/// steady timer is its period by default. A callback without a deadline runs in the background.
class RCLRT_RCLCPP_EXPORT EdfExecutor final : public Executor {
 public:
  /// Makes an executor; throws as PreemptiveExecutor's.
  explicit EdfExecutor(const Options& options = {});
  /// Makes an executor with rclcpp's options.
  explicit EdfExecutor(const rclcpp::ExecutorOptions& options);
  ~EdfExecutor() override;
};

/// Runs the most urgent ready callback to its end, on one thread. See
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

/// Runs sets of ready callbacks in order of priority on one thread, when a trigger holds. See
/// rclrt::executor::StaticOrderExecutor. Each rclcpp::Node has subscriptions of its own, such as to
/// /parameter_events; trigger_all() would wait for them, too.
class RCLRT_RCLCPP_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other, for logical execution
  /// time (rclcpp's subscriptions take their messages when they run), and for a user-defined
  /// trigger together with a recording's application, because its bounds do not cover such
  /// triggers.
  explicit StaticOrderExecutor(const Options& options = {},
                               const engine::StaticOrderOptions& static_order = {});
  /// Takes rclcpp's options, of which only the context is used.
  explicit StaticOrderExecutor(const rclcpp::ExecutorOptions& options);
  ~StaticOrderExecutor() override;
};

/// Runs callbacks on a pool of threads, each at the priority of its current callback. See
/// rclrt::executor::WorkshopExecutor.
class RCLRT_RCLCPP_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Throws std::invalid_argument for options that contradict each other.
  explicit WorkshopExecutor(const Options& options = {},
                            const engine::WorkshopOptions& workshop = {});
  /// Takes rclcpp's options, of which only the context is used.
  explicit WorkshopExecutor(const rclcpp::ExecutorOptions& options);
  ~WorkshopExecutor() override;
};

/// Makes an executor by its name in files; `rclrt::model::rclcpp_executor_kinds` has the names.
/// Throws std::invalid_argument for another name, and as the constructor of the executor's class.
/// Thread-safe.
RCLRT_RCLCPP_EXPORT std::shared_ptr<Executor> make_executor(
    std::string_view kind, const Options& options, const engine::KindOptions& kind_options = {});

}  // namespace rclrt_rclcpp
