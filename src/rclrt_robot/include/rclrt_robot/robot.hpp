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
#include <vector>

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
  /// The topic for the response times of each callback with a deadline, as
  /// statistics_msgs/msg/MetricsMessage; for example "/statistics". Each message covers the time
  /// since the last one. Empty: no such topic.
  std::string statistics{};
  /// The topic for each deadline miss with all its culprits, as rclrt_msgs/msg/DeadlineMiss; for
  /// example "/misses". Empty: no such topic.
  std::string misses{};
  /// The largest number of misses in one period that are reported with their culprits; each takes
  /// 800 bytes. All misses are counted.
  std::size_t capacity = 256;
  /// The directory for Perfetto files of the last seconds before a miss: miss-1.pftrace, and so on.
  /// It must exist. At most one file per second is written, until the directory has 16, including
  /// those of earlier runs. Empty: no traces; each instance then costs nothing.
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
  /// the main culprit, and the counters. The status is ERROR if an instance was due and none has
  /// ended. std::nullopt: no monitor.
  std::optional<MonitorOptions> monitor{};
  /// std::nullopt: the memory is left as it is. Otherwise the constructor of Robot sets the heap,
  /// and memory is locked when a spin begins and at each `update_memory`.
  std::optional<MemoryOptions> memory{};
  /// The file to which every callback is written with its current values, in the format of
  /// `rclrt_rclcpp::Options::priorities`. It is written after `report_after`, and at the end of
  /// each spin. Empty: no file.
  std::filesystem::path write_priorities{};
  /// After this time of a spin, the log warns of each entry of the priorities that matches nothing.
  std::chrono::milliseconds report_after{10'000};
  /// Sentences that a spin with real-time scheduling writes to the log as warnings when it begins.
  /// `load_robot` sets those about the file (rclrt/model/warnings.hpp).
  std::vector<std::string> warnings{};
};

/// Reads a robot.yaml, as `rclrt::model::load_robot` does; its documentation shows the format.
/// `process` selects the process in a file with all processes of a host, see rclrt/model/host.hpp;
/// empty: the file describes a single process. Throws std::runtime_error with one line for each
/// mistake: "file:line:column: what is wrong; expected what". Thread-safe.
RCLRT_ROBOT_EXPORT RobotOptions load_robot(const std::filesystem::path& file,
                                           const std::string& process = {});

/// The executor of a process, with its threads, monitor, recording and memory. While it spins, it
/// applies the thread plan to the threads of the middleware, of libraries and of nodes, also to
/// those that appear later. The threads of rclrt itself keep their scheduling.
///
/// The logger "rclrt" first reports the executor, its CPUs, its scheduling, and whether memory is
/// locked. It reports each thread once: it warns of refused scheduling, once for each rule and
/// cause, and of real-time threads that match no rule, and lists other threads without a rule as
/// information. At the end it warns of rules that no thread has matched.
class RCLRT_ROBOT_EXPORT Robot {
 public:
  /// Makes the executor and the other parts. Throws the exceptions of rclrt_rclcpp::make_executor
  /// and Recording, and std::invalid_argument with the name and the allowed range for an option
  /// that is out of its range.
  explicit Robot(RobotOptions options);
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  /// Returns the executor, for nodes. The Robot must outlive the users of the reference.
  rclrt_rclcpp::Executor& executor() noexcept { return *executor_; }
  /// Returns the executor, for code that needs a shared or weak pointer. After the Robot was
  /// destroyed, the executor must not spin or run callbacks.
  std::shared_ptr<rclrt_rclcpp::Executor> shared_executor() const noexcept { return executor_; }

  /// Spins the executor, then writes the recording, even if a callback has thrown. Throws the
  /// exceptions of rclrt_rclcpp::Executor::spin and Recording::write, and rclcpp's exception if it
  /// refuses the monitor's topic. With a recording it can be called only once.
  void spin();

  /// Locks memory that was mapped after the spin began, such as the library of a component, if the
  /// options say so; also loads the code of such libraries into memory. The log reports once what
  /// is not permitted. Returns why not all memory is locked; std::nullopt: it is, or the options do
  /// not say so. Thread-safe.
  std::optional<std::string> update_memory();

  /// Scans the threads of the process and returns the state of all of them except rclrt's own.
  /// Returns an empty report if the robot does not spin, or if it has no thread rules. Thread-safe.
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
