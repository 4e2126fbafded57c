// SPDX-License-Identifier: Apache-2.0
// Records the callbacks of a robot's executors, as results that `rclrt report` shows.
//
//     const auto recording = std::make_shared<rclrt_robot::Recording>(
//         rclrt_robot::RecordingOptions{.directory = "out", .application = "robot.yaml"});
//     rclrt_rclcpp::PreemptiveExecutor executor({.recording = recording});
//     executor.add_node(node);
//     executor.spin();
//     recording->write();
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt_rclcpp/observer.hpp"
#include "rclrt_robot/export.hpp"

namespace rclrt_robot {

/// Options of a recording.
struct RecordingOptions {
  /// The directory for the files, which appear when they are complete. It must be new, empty, or
  /// hold an earlier recording, which is then replaced.
  std::filesystem::path directory;
  /// An app.yaml of this robot, with the chains to follow. Empty: each timer is a chain of its own,
  /// with its period as the deadline.
  std::filesystem::path application;
  std::string name = "robot";  ///< what the report calls it, without an application
  /// Each instance takes about 0.5 kB, and as much again during `write`. The recording ends at this
  /// number; later instances are only counted.
  std::size_t max_instances = 1'000'000;
};

/// Records every instance of the executors that it is given to
/// (`rclrt_rclcpp::Options::recording`), and the times at which the machine did not run this
/// process. All functions may be called from any thread.
///
/// A chain is followed by the publication times of its messages; docs/reference/recordings.md
/// describes what this can and cannot show.
class RCLRT_ROBOT_EXPORT Recording final : public rclrt_rclcpp::Observer {
 public:
  /// Throws std::invalid_argument with every mistake of the application's file, and
  /// std::system_error if the directory cannot be written.
  explicit Recording(RecordingOptions options);
  /// Leaves no files behind without `write`.
  ~Recording() override;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Starts to count releases. If it was not called before, the first spin calls it.
  void start();
  /// Writes the results until the last spin ended, or until now if one is under way. Returns the
  /// differences between the application's file and the robot, a line each. Throws std::logic_error
  /// if it is called twice, before `start`, or without an executor, and std::system_error if a file
  /// cannot be written.
  std::vector<std::string> write();

  /// Returns the observer of an executor that is made with this recording. Throws
  /// std::invalid_argument if the executor is of another kind than those before, or if the bounds
  /// of the application do not cover its options.
  std::unique_ptr<rclrt_rclcpp::ExecutorObserver> observe(
      std::string_view kind, const rclrt::executor::ExecutorOptions& options,
      const rclrt::executor::KindOptions& kind_options) override;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace rclrt_robot
