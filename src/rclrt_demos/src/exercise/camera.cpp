// SPDX-License-Identifier: Apache-2.0
#include "exercise/camera.hpp"

#include <deque>

#include "exercise/spin_thread.hpp"

namespace rclrt::demos {

namespace {

using namespace std::chrono_literals;

}  // namespace

Camera::Camera(CameraCallbacks& callbacks, const std::shared_ptr<Context>& context)
    : callbacks_(callbacks),
      node_(context, "imagepub"),
      publisher_(node_.create_publisher<Image>("/image", kQueueDepth)),
      image_(std::make_unique<Image>()) {
  image_->data.fill(127);
}

void Camera::publish() noexcept {
  callbacks_.stamp(*image_);
  if (!publisher_->publish(*image_)) {
    callbacks_.count_unsent();
  }
}

void Camera::add_timer() {
  node_.create_wall_timer(kFrame, [this] { publish(); });
}

void Camera::wait_for_subscriptions(std::size_t count) const {
  constexpr std::chrono::seconds kLimit = 30s;
  if (!node_.wait_for_subscribers("/image", count, kLimit)) {
    throw_no_subscriptions(kLimit);
  }
}

CameraProcessing::CameraProcessing(CameraCallbacks& callbacks,
                                   const std::shared_ptr<Context>& context,
                                   const CameraPriorities& priorities)
    : node_(context, "obj_detect"),
      publisher_(node_.create_publisher<Object>("/actuation", kQueueDepth)),
      logger_(node_.create_subscription<Image>(
          "/image", kQueueDepth, [&callbacks](const Image& image) { callbacks.log(image); },
          {.priority = priorities.logger, .name = "data_logger"})),
      detector_(node_.create_subscription<Image>(
          "/image", kQueueDepth,
          [&callbacks, this](const Image& image) {
            callbacks.detect(image, [this](const Object& object) { publisher_->publish(object); });
          },
          {.priority = priorities.detector, .name = "object_detector"})) {}

Actuation::Actuation(CameraCallbacks& callbacks, const std::shared_ptr<Context>& context,
                     const CameraPriorities& priorities)
    : node_(context, "actuation") {
  using Object = CameraCallbacks::Object;
  node_.create_subscription<Object>(
      "/actuation", kQueueDepth, [&callbacks](const Object& object) { callbacks.actuate(object); },
      {.priority = priorities.actuation, .name = "actuation"});
}

CameraDemo::CameraDemo(Session& for_session, const LoggerTime& logger_time,
                       const CameraPriorities& priorities)
    : session(for_session),
      context(Context::make(0, nullptr, {.handle_signals = false})),
      callbacks(session, logger_time),
      camera(callbacks, context),
      processing(callbacks, context, priorities),
      actuation(callbacks, context, priorities) {}

ExecutorOptions CameraDemo::best_effort(const char* name) const {
  return {.name = name, .cpus = {session.cpu()}, .realtime = Realtime::kOff};
}

ExecutorOptions CameraDemo::realtime(const char* name, int priority) const {
  return {.name = name,
          .cpus = {session.cpu()},
          .realtime = session.realtime() ? Realtime::kRequire : Realtime::kOff,
          .top_priority = priority + 1};
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
  realtime::CyclicThread publisher = make_camera_thread(session, [this] { camera.publish(); });
  if (camera_thread) {
    publisher.start();
  }
  session.wait();
  report_other_cameras(session, camera.node().count_publishers("/image"));
  publisher.stop();
  spins.clear();
  callbacks.add_notes(session);
}

}  // namespace rclrt::demos
