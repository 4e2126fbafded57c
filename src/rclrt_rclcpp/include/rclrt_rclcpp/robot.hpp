// SPDX-License-Identifier: Apache-2.0
// A process of rclcpp nodes as a robot.yaml states it: executor, priorities, threads, recording.
//
//     rclrt_rclcpp::Robot robot(rclrt_rclcpp::load_robot("robot.yaml"));
//     robot.executor().add_node(node);
//     robot.spin();
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "rclrt/executor/flight_trace.hpp"
#include "rclrt/realtime/thread_plan.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_rclcpp/export.hpp"
#include "rclrt_rclcpp/recording.hpp"

namespace rclrt_rclcpp {

class Monitor;

/// Makes an executor by its name: preemptive, producer_consumer, thread_dispatch, edf, picas,
/// per_group, static_order or workshop. Throws std::invalid_argument for another name, and as the
/// executor's constructor.
RCLRT_RCLCPP_EXPORT std::shared_ptr<Executor> make_executor(const std::string& kind,
                                                            Options options);

/// What operators are told while the process spins.
struct MonitorOptions {
  std::chrono::milliseconds period{1000};  ///< between two messages
  std::string topic = "/diagnostics";      ///< of type diagnostic_msgs/msg/DiagnosticArray
  /// Gets the responses of each callback with a deadline since the last message, as
  /// statistics_msgs/msg/MetricsMessage; such as "/statistics". Empty: none.
  std::string statistics{};
  /// Gets each miss with all that was in its way, as rclrt_msgs/msg/DeadlineMiss; such as
  /// "/misses". Empty: none.
  std::string misses{};
  /// Misses of a period whose blame is told, 800 bytes each; all are counted.
  std::size_t capacity = 256;
  /// Gets a Perfetto file of the last seconds before a miss: miss-1.pftrace, ..., at most one a
  /// second, until the directory has 16, those of earlier runs among them. It must exist. Empty:
  /// none; each instance then costs nothing.
  std::filesystem::path traces{};
};

/// What becomes of the process's memory.
struct MemoryOptions {
  bool lock = true;               ///< into RAM, as far as permitted (rclrt/realtime/process.hpp)
  std::size_t prefault_heap = 0;  ///< bytes by which the heap grows at once, and keeps
};

/// What a process gets.
struct RobotOptions {
  std::string executor = "preemptive";           ///< see make_executor
  Options options{};                             ///< of the executor, without a recording
  rclrt::realtime::ThreadPlan threads{};         ///< without rules no thread is looked at
  std::chrono::milliseconds thread_period{500};  ///< between two looks for new threads
  std::optional<RecordingOptions> recording{};
  /// Each callback with a deadline or a largest age is told of: misses since the last message, who
  /// was most in the way, and the counters; ERROR if nothing has ended though something was to.
  std::optional<MonitorOptions> monitor{};
  /// None: nothing is done. Else also when a spin begins, and at each `settle_memory`.
  std::optional<MemoryOptions> memory{};
  /// Gets every callback with what it has, as a file for `Options::priorities`: after
  /// `first_look`, and at the end of each spin. Empty: none.
  std::filesystem::path write_priorities{};
  /// After that time of a spin the log warns of each entry of the priorities that nothing fits.
  std::chrono::milliseconds first_look{10'000};
};

/// Reads a robot.yaml as `rclrt::model::load_robot` does, which shows the format. Throws
/// std::runtime_error whose text is one "file:line:column: what is wrong; expected what" per line.
/// `process`: the one to read of a file with all processes of a host, see rclrt/model/host.hpp;
/// empty: the file is of one. Thread-safe.
RCLRT_RCLCPP_EXPORT RobotOptions load_robot(const std::filesystem::path& file,
                                            const std::string& process = {});

/// The executor of a process with what belongs to it. While it spins, threads get what the plan
/// states, those of the middleware, of libraries and of nodes, also those that appear later. The
/// threads of rclrt itself keep what they have. The logger "rclrt" tells of threads once: of
/// refusals and of real-time threads without a rule as warnings, of other threads without a rule as
/// information; at the end of rules that no thread has needed.
class RCLRT_RCLCPP_EXPORT Robot {
 public:
  /// Throws as make_executor and Recording, and std::invalid_argument for a period below 1 ms.
  explicit Robot(RobotOptions options);
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  /// Returns the executor, for nodes. The Robot outlives what uses it.
  Executor& executor() noexcept { return *executor_; }
  /// Returns the executor, for those who keep a shared or weak pointer. It may not spin, nor run
  /// callbacks, when the Robot is gone.
  std::shared_ptr<Executor> shared_executor() const noexcept { return executor_; }

  /// Spins the executor, then writes the recording, also when a callback has thrown. Throws as
  /// Executor::spin and Recording::write, and what the monitor's topic is refused with. With a
  /// recording it can be called once.
  void spin();

  /// Locks, as the options say, what has been mapped since, such as the library of a component, and
  /// brings code into memory. The log tells what is not permitted, once. Thread-safe.
  void settle_memory();

  /// Returns what the threads have but for rclrt's own, after another look at them; empty while it
  /// does not spin, or without rules. Thread-safe.
  rclrt::realtime::ThreadPlanReport threads();

 private:
  class Spin;

  void write_recording();
  void write_priorities();

  const RobotOptions options_;
  const std::shared_ptr<Recording> recording_;
  const std::unique_ptr<rclrt::executor::FlightTrace> trace_;  // the monitor tells it
  const std::unique_ptr<Monitor> monitor_;                     // the executor tells it
  const std::shared_ptr<Executor> executor_;
  std::mutex memory_mutex_;     // one at a time settles memory; guards the next
  std::set<std::string> told_;  // of memory, on the log
  std::mutex mutex_;            // guards spin_
  Spin* spin_ = nullptr;        // the one under way
};

}  // namespace rclrt_rclcpp
