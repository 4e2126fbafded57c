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

#include <chrono>
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
  /// The directory for the files of the recording; they appear when they are complete. It may be
  /// new, empty, or have an earlier recording, which is then replaced, from the first results on.
  std::filesystem::path directory;
  /// An app.yaml of this robot that states the chains to follow. Empty: each timer is a chain of
  /// its own, with its period as the deadline.
  std::filesystem::path application;
  std::string name = "robot";  ///< what the report calls it, without an application
  /// A recording with at most so many instances keeps all of them, about 0.5 kB each, and as much
  /// again during `write`. A longer one streams (recorder::RecordingStream): it counts each
  /// instance and keeps the worst and the latest ones, and its memory does not grow any more.
  std::size_t max_instances = 1'000'000;
  /// How often the results so far are written during a spin. They stay if the process ends without
  /// `write`. Writing takes at most 2 % of the time of one CPU. Zero: only `write` writes.
  std::chrono::milliseconds write_every = std::chrono::seconds(10);
};

/// Records every instance of the executors that have it as `rclrt_rclcpp::Options::recording`, and
/// the times at which the machine did not run this process. Any thread may call any function.
///
/// A chain is followed by the publication times of its messages; docs/reference/recordings.md
/// describes what this can show and what it cannot.
class RCLRT_ROBOT_EXPORT Recording final : public rclrt_rclcpp::Observer {
 public:
  /// Makes a recording. Throws std::invalid_argument with every mistake in the application's file,
  /// or if RecordingOptions::write_every is negative, and std::system_error if the directory cannot
  /// be written.
  explicit Recording(RecordingOptions options);
  /// Ends it. Without `write`, the results that RecordingOptions::write_every wrote last stay.
  ~Recording() override;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Starts to count releases. If it was not called before, the first spin calls it.
  void start();
  /// Writes the results up to the end of the last spin, or up to now if the executor is spinning.
  /// Returns the differences between the application's file and the robot, one line each. Throws
  /// std::logic_error if it was called before, if `start` was not called, or if no executor has the
  /// recording; std::system_error if a file cannot be written; and std::runtime_error if the
  /// recording failed before, because there was no memory left, for example. Results that were
  /// written before then stay.
  std::vector<std::string> write();

  /// Returns the observer for an executor that is made with this recording. Throws
  /// std::invalid_argument if the executor is of another kind than earlier ones of this recording,
  /// or if the bounds of the application do not cover the executor's options.
  std::unique_ptr<rclrt_rclcpp::ExecutorObserver> observe(
      std::string_view kind, const rclrt::executor::ExecutorOptions& options,
      const rclrt::executor::KindOptions& kind_options) override;

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace rclrt_robot
