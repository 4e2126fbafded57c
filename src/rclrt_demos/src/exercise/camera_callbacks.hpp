// SPDX-License-Identifier: Apache-2.0
// The work and the records of the callbacks of exercises 3 and 4, for any client library.
//
//   camera --/image--> data logger       (long, best-effort)
//                  \-> object detector --/actuation--> actuation
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <rclrt_msgs/msg/camera_image.hpp>
#include <std_msgs/msg/int64.hpp>

#include "exercise/session.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"

namespace rclrt::demos {

/// The camera's period, 30 Hz.
inline constexpr std::chrono::nanoseconds kFrame{33'333'333};
/// Priority of the camera's thread.
inline constexpr int kCameraPriority = 90;
/// The deadline from an image to its actuation.
inline constexpr std::chrono::nanoseconds kActuationDeadline = std::chrono::milliseconds(17);
/// The largest number of messages that wait in a queue.
inline constexpr std::size_t kQueueDepth = 10;

/// The computing time of the data logger for an image: the sum of some draws.
struct LoggerTime {
  int draws = 1;
  int least_us = 0;
  int most_us = 0;
};

/// 1 to 10 ms, for exercises 3-1 and 3-2.
inline constexpr LoggerTime kVaryingLogger{.draws = 10, .least_us = 100, .most_us = 999};
/// 20 to 35 ms, for exercise 4-1.
inline constexpr LoggerTime kLongLogger{.draws = 1, .least_us = 20'000, .most_us = 35'000};
/// 5 to 10 ms, for exercise 4-2.
inline constexpr LoggerTime kMediumLogger{.draws = 1, .least_us = 5'000, .most_us = 10'000};

/// The work of the exercise's callbacks, and the times that they record. Different functions may
/// run at the same time, but each function in one thread at a time. Call the constructor and
/// `add_notes` when no other function runs.
class CameraCallbacks {
 public:
  using Image = rclrt_msgs::msg::CameraImage;
  using Object = std_msgs::msg::Int64;

  /// Adds the tracks to the session.
  CameraCallbacks(Session& session, const LoggerTime& logger_time);

  /// Writes the time stamp of the next image, and records the time since the last one.
  void stamp(Image& image) noexcept;

  /// Counts an image that the middleware refused.
  void count_unsent() noexcept { ++unsent_; }

  /// Computes, and waits as if for a disk.
  void log(const Image& image) noexcept;

  /// Computes, and passes the detected object to `publish`.
  template <typename Publish>
  void detect(const Image& image, const Publish& publish) {
    if (!accept(image.stamp_ns)) {
      return;
    }
    begin_detection(image);
    const Measure measure(object_detect_);
    publish(find_object(image));
  }

  /// Drives the motor.
  void actuate(const Object& object) noexcept;

  /// Adds the counts to the session's results. Call it at the end, when no callback runs.
  void add_notes(Session& session) const;

 private:
  /// Returns whether a message with this stamp can be of this run; counts it if not.
  bool accept(std::int64_t stamp_ns) noexcept;
  void begin_detection(const Image& image) noexcept;
  static Object find_object(const Image& image) noexcept;

  const LoggerTime logger_time_;
  std::minstd_rand random_;  // the same draws in each run, so that runs can be compared
  Slice& period_;
  Slice& data_logger_;
  Slice& message_delay_;
  Slice& object_detect_;
  Slice& end_to_end_delay_;
  Slice& actuation_;
  std::int64_t last_stamp_ns_ = 0;
  const std::int64_t begin_ns_ = realtime::monotonic_now_ns();
  std::uint64_t unsent_ = 0;
  std::atomic<std::uint64_t> foreign_{0};  // messages; an independent count
  std::atomic<std::int64_t> last_logged_ns_{0};
  std::uint64_t logged_first_ = 0;  // images with a logging that began before their detection
  std::uint64_t actuations_ = 0;
  std::uint64_t missed_deadlines_ = 0;
};

/// Returns the camera's thread, which is not started yet. It calls `publish` once per frame
/// (kFrame), under SCHED_FIFO if that is permitted.
realtime::CyclicThread make_camera_thread(const Session& session, std::function<void()> publish);

/// Reports other publishers of /image, if there are any: their images arrive, too.
void report_other_cameras(Session& session, std::size_t publishers);

/// Throws std::runtime_error: our own subscriptions were not matched within `limit`.
[[noreturn]] void throw_no_subscriptions(std::chrono::seconds limit);

}  // namespace rclrt::demos
