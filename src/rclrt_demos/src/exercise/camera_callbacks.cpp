// SPDX-License-Identifier: Apache-2.0
#include "exercise/camera_callbacks.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::demos {

namespace {

using namespace std::chrono_literals;
using realtime::monotonic_now_ns;

constexpr std::chrono::nanoseconds kDetection = 3ms;
constexpr std::chrono::nanoseconds kActuation = 150us;
constexpr std::chrono::nanoseconds kWriting = 1ms;

}  // namespace

CameraCallbacks::CameraCallbacks(Session& session, const LoggerTime& logger_time)
    : logger_time_(logger_time),
      period_(session.add_track("camera").add_slice("period", session.samples(kFrame))),
      data_logger_(session.add_track("data_logger_callback")
                       .add_slice("DataLogger", session.samples(kFrame))),
      message_delay_(session.add_track("object_detector_callback")
                         .add_slice("MessageDelay", session.samples(kFrame))),
      object_detect_(
          session.results().tracks.back().add_slice("ObjectDetect", session.samples(kFrame))),
      end_to_end_delay_(
          session.add_track("actuation").add_slice("EndToEndDelay", session.samples(kFrame))),
      actuation_(session.results().tracks.back().add_slice("Actuation", session.samples(kFrame))) {}

void CameraCallbacks::stamp(Image& image) noexcept {
  image.stamp_ns = monotonic_now_ns();
  if (last_stamp_ns_ != 0) {
    period_.record(last_stamp_ns_, image.stamp_ns);
  }
  last_stamp_ns_ = image.stamp_ns;
}

bool CameraCallbacks::accept(std::int64_t stamp_ns) noexcept {
  const bool is_own = stamp_ns >= begin_ns_ && stamp_ns <= monotonic_now_ns();
  if (!is_own) {
    foreign_.fetch_add(1, std::memory_order_relaxed);  // orders nothing
  }
  return is_own;
}

void CameraCallbacks::log(const Image& image) noexcept {
  if (!accept(image.stamp_ns)) {
    return;
  }
  last_logged_ns_.store(image.stamp_ns);
  const Measure measure(data_logger_);
  std::uniform_int_distribution<int> draw(logger_time_.least_us, logger_time_.most_us);
  int time_us = 0;
  for (int i = 0; i < logger_time_.draws; ++i) {
    time_us += draw(random_);
  }
  compute(std::chrono::microseconds(time_us));
  realtime::sleep_until_ns(monotonic_now_ns() + kWriting.count());  // as if waiting for the disk
}

void CameraCallbacks::begin_detection(const Image& image) noexcept {
  message_delay_.record(image.stamp_ns, monotonic_now_ns());
  if (last_logged_ns_.load() >= image.stamp_ns) {
    ++logged_first_;
  }
}

CameraCallbacks::Object CameraCallbacks::find_object(const Image& image) noexcept {
  compute(kDetection);
  Object object;
  object.data = image.stamp_ns;
  return object;
}

void CameraCallbacks::actuate(const Object& object) noexcept {
  const std::int64_t stamp_ns = object.data;
  if (!accept(stamp_ns)) {
    return;
  }
  const std::int64_t now_ns = monotonic_now_ns();
  end_to_end_delay_.record(stamp_ns, now_ns);
  ++actuations_;
  missed_deadlines_ += now_ns - stamp_ns > kActuationDeadline.count() ? 1 : 0;
  const Measure measure(actuation_);
  compute(kActuation);
}

void CameraCallbacks::add_notes(Session& session) const {
  session.note("unsent_images", unsent_);
  session.note("foreign_messages", foreign_.load(std::memory_order_relaxed));
  session.note("actuations", actuations_);
  session.note("missed_deadlines", missed_deadlines_);
  session.note("logged_first", logged_first_);
}

realtime::CyclicThread make_camera_thread(const Session& session, std::function<void()> publish) {
  return realtime::CyclicThread(
      {.thread = {.name = "camera", .scheduling = session.fifo(kCameraPriority)},
       .period_ns = kFrame.count(),
       .overrun = realtime::OverrunPolicy::kSkip},
      [publish = std::move(publish)](const realtime::Release&) { publish(); });
}

void report_other_cameras(Session& session, std::size_t publishers) {
  if (publishers > 1) {
    session.note("other_cameras", publishers - 1);
    std::fprintf(stderr,
                 "exercise %s: %zu other process(es) publish on /image; their images are in "
                 "the measurements, too; set ROS_DOMAIN_ID to an unused number\n",
                 session.results().exercise.c_str(), publishers - 1);
  }
}

void throw_no_subscriptions(std::chrono::seconds limit) {
  throw std::runtime_error("the subscriptions of /image were not found within " +
                           std::to_string(limit.count()) +
                           " s; see whether the middleware may use the loopback interface");
}

}  // namespace rclrt::demos
