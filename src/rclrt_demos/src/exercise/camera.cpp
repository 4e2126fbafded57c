// SPDX-License-Identifier: Apache-2.0
#include "exercise/camera.hpp"

#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>

#include "exercise/spin_thread.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"

namespace rclrt::demos {

namespace {

using namespace std::chrono_literals;
using realtime::monotonic_now_ns;

constexpr std::size_t kDepth = 10;
constexpr std::chrono::nanoseconds kDetection = 3ms;
constexpr std::chrono::nanoseconds kActuation = 150us;
constexpr std::chrono::nanoseconds kWriting = 1ms;

}  // namespace

Camera::Camera(Session& session, const std::shared_ptr<Context>& context)
    : node_(context, "imagepub"),
      publisher_(node_.create_publisher<Image>("/image", kDepth)),
      image_(std::make_unique<Image>()),
      period_(session.add_track("camera").add_slice("period", session.samples(kFrame))) {
  image_->data.fill(127);
}

void Camera::publish() noexcept {
  image_->stamp_ns = monotonic_now_ns();
  if (last_ns_ != 0) {
    period_.record(last_ns_, image_->stamp_ns);
  }
  last_ns_ = image_->stamp_ns;
  unsent_ += publisher_->publish(*image_) ? 0 : 1;
}

void Camera::add_timer() {
  node_.create_wall_timer(kFrame, [this] { publish(); });
}

void Camera::wait_for_subscriptions(std::size_t count) const {
  if (!node_.wait_for_subscribers("/image", count, 30s)) {
    throw std::runtime_error(
        "the subscriptions of /image were not found within 30 s; see whether "
        "the middleware may use the loopback interface");
  }
}

CameraProcessing::CameraProcessing(Session& session, const std::shared_ptr<Context>& context,
                                   const LoggerTime& logger_time,
                                   const CameraPriorities& priorities)
    : logger_time_(logger_time),
      data_logger_(session.add_track("data_logger_callback")
                       .add_slice("DataLogger", session.samples(kFrame))),
      message_delay_(session.add_track("object_detector_callback")
                         .add_slice("MessageDelay", session.samples(kFrame))),
      object_detect_(
          session.results().tracks.back().add_slice("ObjectDetect", session.samples(kFrame))),
      node_(context, "obj_detect"),
      publisher_(node_.create_publisher<std_msgs::msg::Int64>("/actuation", kDepth)),
      logger_(node_.create_subscription<Image>(
          "/image", kDepth, [this](const Image& image) { log(image); },
          {.priority = priorities.logger, .name = "data_logger"})),
      detector_(node_.create_subscription<Image>(
          "/image", kDepth, [this](const Image& image) { detect(image); },
          {.priority = priorities.detector, .name = "object_detector"})) {}

void CameraProcessing::log(const Image& image) noexcept {
  last_logged_ns_.store(image.stamp_ns);
  const Measure measure(data_logger_);
  std::uniform_int_distribution<int> draw(logger_time_.least_us, logger_time_.most_us);
  int time_us = 0;
  for (int i = 0; i < logger_time_.draws; ++i) {
    time_us += draw(random_);
  }
  compute(std::chrono::microseconds(time_us));
  realtime::sleep_until_ns(monotonic_now_ns() + kWriting.count());  // waits for the disk, say
}

void CameraProcessing::detect(const Image& image) noexcept {
  message_delay_.record(image.stamp_ns, monotonic_now_ns());
  if (last_logged_ns_.load() >= image.stamp_ns) {
    ++logged_first_;
  }
  const Measure measure(object_detect_);
  compute(kDetection);
  std_msgs::msg::Int64 found;
  found.data = image.stamp_ns;
  publisher_->publish(found);
}

Actuation::Actuation(Session& session, const std::shared_ptr<Context>& context,
                     const CameraPriorities& priorities)
    : end_to_end_delay_(
          session.add_track("actuation").add_slice("EndToEndDelay", session.samples(kFrame))),
      actuation_(session.results().tracks.back().add_slice("Actuation", session.samples(kFrame))),
      node_(context, "actuation") {
  node_.create_subscription<std_msgs::msg::Int64>(
      "/actuation", kDepth, [this](const std_msgs::msg::Int64& found) { actuate(found.data); },
      {.priority = priorities.actuation, .name = "actuation"});
}

void Actuation::actuate(std::int64_t stamp_ns) noexcept {
  const std::int64_t now_ns = monotonic_now_ns();
  end_to_end_delay_.record(stamp_ns, now_ns);
  ++count_;
  missed_deadlines_ += now_ns - stamp_ns > kDeadline.count() ? 1 : 0;
  const Measure measure(actuation_);
  compute(kActuation);
}

CameraDemo::CameraDemo(Session& for_session, const LoggerTime& logger_time,
                       const CameraPriorities& priorities)
    : session(for_session),
      context(Context::make(0, nullptr, {.handle_signals = false})),
      camera(session, context),
      processing(session, context, logger_time, priorities),
      actuation(session, context, priorities) {}

ExecutorOptions CameraDemo::best_effort(const char* name) const {
  return {.name = name, .cpus = {session.cpu()}, .realtime = Realtime::kOff};
}

ExecutorOptions CameraDemo::realtime(const char* name, int priority) const {
  return {.name = name,
          .cpus = {session.cpu()},
          .realtime = session.realtime() ? Realtime::kRequire : Realtime::kOff,
          .top_priority = priority + 1};
}

void CameraDemo::report_other_cameras() {
  const std::size_t cameras = camera.node().count_publishers("/image");
  if (cameras > 1) {
    session.note("other_cameras", cameras - 1);
    std::fprintf(stderr,
                 "exercise %s: %zu other(s) publish on /image, whose images are in the figures, "
                 "too; set ROS_DOMAIN_ID to a number that nobody else uses\n",
                 session.results().exercise.c_str(), cameras - 1);
  }
}

void CameraDemo::run(std::initializer_list<Executor*> executors) { run(executors, true); }

void CameraDemo::run_with_camera_timer(std::initializer_list<Executor*> executors) {
  run(executors, false);
}

void CameraDemo::run(std::initializer_list<Executor*> executors, bool camera_thread) {
  camera.wait_for_subscriptions(2);
  std::deque<SpinThread> spins;
  for (Executor* const executor : executors) {
    spins.emplace_back(*executor);
  }
  realtime::CyclicThread publisher(
      {.thread = {.name = "camera", .scheduling = session.fifo(kCameraPriority)},
       .period_ns = kFrame.count(),
       .overrun = realtime::OverrunPolicy::kSkip},
      [this](const realtime::Release&) { camera.publish(); });
  if (camera_thread) {
    publisher.start();
  }
  session.wait();
  report_other_cameras();
  publisher.stop();
  spins.clear();
  session.note("unsent_images", camera.unsent());
  session.note("actuations", actuation.count());
  session.note("missed_deadlines", actuation.missed_deadlines());
  session.note("logged_first", processing.logged_first());
}

}  // namespace rclrt::demos
