// SPDX-License-Identifier: Apache-2.0
// A process of rclcpp nodes as described by a robot.yaml: executor, priorities, threads, recording.
//
//     rclrt_robot::Robot robot(rclrt_robot::load_robot("robot.yaml"));
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
#include "rclrt_robot/export.hpp"
#include "rclrt_robot/recording.hpp"

namespace rclrt_robot {

class Monitor;

/// Reports for operators while the process spins.
struct MonitorOptions {
  std::chrono::milliseconds period{1000};  ///< between two messages; at least 1 ms
  std::string topic = "/diagnostics";      ///< of type diagnostic_msgs/msg/DiagnosticArray
  /// Topic for the responses of each callback with a deadline since the last message, as
  /// statistics_msgs/msg/MetricsMessage; such as "/statistics". Empty: none.
  std::string statistics{};
  /// Topic for each miss with all its culprits, as rclrt_msgs/msg/DeadlineMiss; such as "/misses".
  /// Empty: none.
  std::string misses{};
  /// Misses per period that are reported with their culprits, 800 bytes each; all misses are
  /// counted.
  std::size_t capacity = 256;
  /// Directory for a Perfetto file of the last seconds before a miss: miss-1.pftrace, ... At most
  /// one a second is written, until the directory has 16, those of earlier runs included. It must
  /// exist. Empty: none; each instance then costs nothing.
  std::filesystem::path traces{};
};

/// Memory of the process.
struct MemoryOptions {
  bool lock = true;               ///< into RAM, as far as permitted (rclrt/realtime/process.hpp)
  std::size_t prefault_heap = 0;  ///< bytes by which the heap grows at once, and keeps
};

/// Options of a process.
struct RobotOptions {
  std::string executor = "preemptive";           ///< see rclrt_rclcpp::make_executor
  rclrt_rclcpp::Options options{};               ///< of the executor, without a recording
  rclrt::realtime::ThreadPlan threads{};         ///< without rules, threads are not scanned
  std::chrono::milliseconds thread_period{500};  ///< between two scans; at least 1 ms
  std::optional<RecordingOptions> recording{};
  /// Reports on each callback with a deadline or a largest age: the misses since the last message,
  /// the main culprit, and the counters. The status is ERROR if no instance has ended although one
  /// was due.
  std::optional<MonitorOptions> monitor{};
  /// None: the memory is left as it is. Otherwise the heap is set at construction, and memory is
  /// locked when a spin begins and at each `update_memory`.
  std::optional<MemoryOptions> memory{};
  /// File for every callback with its current values, in the format of
  /// `rclrt_rclcpp::Options::priorities`. It is written after `report_after`, and at the end of
  /// each spin. Empty: none.
  std::filesystem::path write_priorities{};
  /// After this time of a spin, the log warns of each entry of the priorities that matches nothing.
  std::chrono::milliseconds report_after{10'000};
};

/// Reads a robot.yaml as `rclrt::model::load_robot` does, which shows the format. Throws
/// std::runtime_error with one line "file:line:column: what is wrong; expected what" per mistake.
/// `process` selects the process in a file with all processes of a host, see rclrt/model/host.hpp;
/// empty: the file describes a single process. Thread-safe.
RCLRT_ROBOT_EXPORT RobotOptions load_robot(const std::filesystem::path& file,
                                           const std::string& process = {});

/// The executor of a process, with its threads, monitor, recording and memory. While it spins, it
/// applies the thread plan to the threads of the middleware, of libraries and of nodes, also to
/// those that appear later. The threads of rclrt itself keep their scheduling. The logger "rclrt"
/// reports threads once: refusals and real-time threads without a rule as warnings, other threads
/// without a rule as information; at the end, the rules that no thread has matched.
class RCLRT_ROBOT_EXPORT Robot {
 public:
  /// Throws as rclrt_rclcpp::make_executor and Recording, and std::invalid_argument with the name
  /// and the allowed range of an option that is out of it.
  explicit Robot(RobotOptions options);
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  /// Returns the executor, for nodes. The Robot must outlive the users of the reference.
  rclrt_rclcpp::Executor& executor() noexcept { return *executor_; }
  /// Returns the executor, for code that keeps a shared or weak pointer. After the end of the Robot
  /// it must not spin or run callbacks.
  std::shared_ptr<rclrt_rclcpp::Executor> shared_executor() const noexcept { return executor_; }

  /// Spins the executor, then writes the recording, also if a callback has thrown. Throws as
  /// rclrt_rclcpp::Executor::spin and Recording::write, and rethrows the error if the monitor's
  /// topic is refused. With a recording it can be called once.
  void spin();

  /// Locks, if the options say so, the memory that has been mapped since, such as the library of a
  /// component, and brings code into memory. The log reports once what is not permitted.
  /// Thread-safe.
  void update_memory();

  /// Returns the state of all threads except rclrt's own, after another scan of them. Returns an
  /// empty report if the robot does not spin, or without rules. Thread-safe.
  rclrt::realtime::ThreadPlanReport threads();

 private:
  class Spin;

  void write_recording();
  void write_priorities();

  const RobotOptions options_;
  const std::shared_ptr<Recording> recording_;
  const std::unique_ptr<rclrt::executor::FlightTrace> trace_;  // gets events from the monitor
  const std::unique_ptr<Monitor> monitor_;                     // gets misses from the executor
  const std::shared_ptr<rclrt_rclcpp::Executor> executor_;
  std::mutex memory_mutex_;         // only one thread at a time locks memory; guards reported_
  std::set<std::string> reported_;  // messages about memory that are in the log
  std::mutex mutex_;                // guards spin_
  Spin* spin_ = nullptr;            // the one under way
};

}  // namespace rclrt_robot
