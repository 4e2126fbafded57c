// SPDX-License-Identifier: Apache-2.0
// What a robot's executors ran, as results that `rclrt report` shows.
//
//     const auto recording = std::make_shared<rclrt_rclcpp::Recording>(
//         rclrt_rclcpp::RecordingOptions{.directory = "out", .application = "robot.yaml"});
//     rclrt_rclcpp::PreemptiveExecutor executor({.recording = recording});
//     executor.add_node(node);
//     executor.spin();
//     recording->write();
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rclrt_rclcpp/export.hpp"

namespace rclrt_rclcpp {

/// What is recorded, and where it goes.
struct RecordingOptions {
  /// Gets the files when they are complete. It must be new, empty, or hold an earlier recording,
  /// which is then replaced.
  std::filesystem::path directory;
  /// An app.yaml of this robot: its chains are followed. Empty: each timer is a chain of its own,
  /// whose deadline is its period.
  std::filesystem::path application;
  std::string name = "robot";  ///< what the report calls it, without an application
  /// Of about 0.5 kB each, and as much again while they are written. When there are more, the
  /// recording ends there; later ones are only counted.
  std::size_t max_instances = 1'000'000;
};

/// Records every instance of the executors that it is given to (`Options::recording`), and when the
/// machine did not run us meanwhile. All functions may be called from any thread.
///
/// A chain is followed by when its messages were published: see docs/rclcpp.md for what that can
/// and cannot tell.
class RCLRT_RCLCPP_EXPORT Recording {
 public:
  /// Throws std::invalid_argument with every mistake of the application's file, and
  /// std::system_error for a directory that cannot be written.
  explicit Recording(RecordingOptions options);
  /// Leaves nothing behind without `write`.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Starts to count what is released. The first spin does it if nobody did.
  void start();
  /// Writes what came until the last spin ended, or until now if one is under way. Returns what the
  /// application states and the robot has otherwise, a line each. Once only, after `start`, and
  /// with an executor: otherwise std::logic_error. Throws std::system_error when a file cannot be
  /// written.
  std::vector<std::string> write();

 private:
  friend class Executor;
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace rclrt_rclcpp
