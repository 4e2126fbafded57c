// SPDX-License-Identifier: Apache-2.0
// A camera, what is made of its images, and the motor at the end: the nodes of exercises 3 and 4.
//
//   camera --/image--> data logger       (long, best-effort)
//                  \-> object detector --/actuation--> actuation
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <rclrt/executors.hpp>
#include <rclrt/node.hpp>
#include <rclrt_msgs/msg/camera_image.hpp>
#include <std_msgs/msg/int64.hpp>

#include "exercise/session.hpp"

namespace rclrt::demos {

/// The camera's period, 30 Hz.
inline constexpr std::chrono::nanoseconds kFrame{33'333'333};
/// Priority of the camera's thread.
inline constexpr int kCameraPriority = 90;

/// How long the data logger computes for an image: the sum of some draws.
struct LoggerTime {
  int draws = 1;
  int least_us = 0;
  int most_us = 0;
};

/// Priorities of the callbacks, for executors that honour them.
struct CameraPriorities {
  int logger = 0;
  int detector = 0;
  int actuation = 0;
};

/// Publishes an image each time it is told to, and keeps the time since the last.
class Camera {
 public:
  Camera(Session& session, const std::shared_ptr<Context>& context);

  /// Publishes an image. One thread at a time.
  void publish() noexcept;

  /// Makes a timer of the node do it.
  void add_timer();

  const Node& node() const noexcept { return node_; }

  /// Returns how many images the middleware refused.
  std::uint64_t unsent() const noexcept { return unsent_; }

  /// Waits until as many subscriptions are there. Throws std::runtime_error after 30 s.
  void wait_for_subscriptions(std::size_t count) const;

 private:
  using Image = rclrt_msgs::msg::CameraImage;

  Node node_;
  const std::shared_ptr<Publisher<Image>> publisher_;
  const std::unique_ptr<Image> image_;  // too large for a stack
  Slice& period_;
  std::int64_t last_ns_ = 0;
  std::uint64_t unsent_ = 0;
};

/// The node of the data logger, which is created first, and of the object detector.
class CameraProcessing {
 public:
  CameraProcessing(Session& session, const std::shared_ptr<Context>& context,
                   const LoggerTime& logger_time, const CameraPriorities& priorities);

  const Node& node() const noexcept { return node_; }
  const std::shared_ptr<executor::Callback>& logger() const noexcept { return logger_; }
  const std::shared_ptr<executor::Callback>& detector() const noexcept { return detector_; }

  /// Returns for how many images the detector started after the logger had.
  std::uint64_t logged_first() const noexcept { return logged_first_; }

 private:
  using Image = rclrt_msgs::msg::CameraImage;

  void log(const Image& image) noexcept;
  void detect(const Image& image) noexcept;

  const LoggerTime logger_time_;
  std::minstd_rand random_;  // the same draws in each run, so that runs can be compared
  Slice& data_logger_;
  Slice& message_delay_;
  Slice& object_detect_;
  std::atomic<std::int64_t> last_logged_ns_{0};
  std::uint64_t logged_first_ = 0;
  Node node_;
  const std::shared_ptr<Publisher<std_msgs::msg::Int64>> publisher_;
  const std::shared_ptr<executor::Callback> logger_;
  const std::shared_ptr<executor::Callback> detector_;
};

/// The node of the motor.
class Actuation {
 public:
  static constexpr std::chrono::nanoseconds kDeadline = std::chrono::milliseconds(17);

  Actuation(Session& session, const std::shared_ptr<Context>& context,
            const CameraPriorities& priorities);

  const Node& node() const noexcept { return node_; }
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t missed_deadlines() const noexcept { return missed_deadlines_; }

 private:
  void actuate(std::int64_t stamp_ns) noexcept;

  Slice& end_to_end_delay_;
  Slice& actuation_;
  std::uint64_t count_ = 0;
  std::uint64_t missed_deadlines_ = 0;
  Node node_;
};

/// All of it.
struct CameraDemo {
  /// Makes the nodes, in a context that leaves the signals to the session.
  CameraDemo(Session& for_session, const LoggerTime& logger_time,
             const CameraPriorities& priorities = {});

  /// Returns options for an executor with its threads on the exercise's CPU: without real time.
  ExecutorOptions best_effort(const char* name) const;
  /// Returns the same under SCHED_FIFO, if that is permitted, from `priority` downwards.
  ExecutorOptions realtime(const char* name, int priority) const;

  /// Spins each executor in a thread, and publishes from a thread of the camera's own, until the
  /// session ends. Call one of the two, once.
  void run(std::initializer_list<Executor*> executors);
  /// Spins each executor in a thread until the session ends; one of them has the camera's timer.
  void run_with_camera_timer(std::initializer_list<Executor*> executors);

  Session& session;
  const std::shared_ptr<Context> context;
  Camera camera;
  CameraProcessing processing;
  Actuation actuation;

 private:
  void run(std::initializer_list<Executor*> executors, bool camera_thread);
  /// Says so if another camera is there at this moment, whose images come in, too.
  void report_other_cameras();
};

}  // namespace rclrt::demos
