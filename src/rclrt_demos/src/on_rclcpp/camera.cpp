// SPDX-License-Identifier: Apache-2.0
#include "on_rclcpp/camera.hpp"

#include <chrono>
#include <deque>

#include "on_rclcpp/spin_thread.hpp"

namespace rclrt::demos::on_rclcpp {

namespace {

using namespace std::chrono_literals;

rclcpp::SubscriptionOptions in_group(const rclcpp::CallbackGroup::SharedPtr& group) {
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  return options;
}

}  // namespace

Camera::Camera(CameraCallbacks& callbacks)
    : Node("imagepub"),
      callbacks_(callbacks),
      publisher_(create_publisher<Image>("/image", kQueueDepth)),
      image_(std::make_unique<Image>()) {
  image_->data.fill(127);
}

void Camera::publish() {
  callbacks_.stamp(*image_);
  try {
    publisher_->publish(*image_);
  } catch (const rclcpp::exceptions::RCLError&) {
    callbacks_.count_unsent();
  }
}

void Camera::add_timer() {
  timer_ = create_wall_timer(kFrame, [this] { publish(); });
}

void Camera::wait_for_subscriptions(std::size_t count) {
  constexpr std::chrono::seconds kLimit = 30s;
  const auto end = std::chrono::steady_clock::now() + kLimit;
  const rclcpp::Event::SharedPtr change = get_graph_event();
  while (publisher_->get_subscription_count() < count) {
    if (std::chrono::steady_clock::now() > end) {
      throw_no_subscriptions(kLimit);
    }
    wait_for_graph_change(change, 100ms);
    change->check_and_clear();
  }
}

CameraProcessing::CameraProcessing(CameraCallbacks& callbacks)
    : Node("obj_detect"),
      publisher_(create_publisher<Object>("/actuation", kQueueDepth)),
      logger_group_(create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive)),
      detector_group_(create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive)) {
  logger_ = create_subscription<Image>(
      "/image", kQueueDepth, [&callbacks](const Image& image) { callbacks.log(image); },
      in_group(logger_group_));
  detector_ = create_subscription<Image>(
      "/image", kQueueDepth,
      [&callbacks, this](const Image& image) {
        callbacks.detect(image, [this](const Object& object) { publisher_->publish(object); });
      },
      in_group(detector_group_));
}

Actuation::Actuation(CameraCallbacks& callbacks)
    : Node("actuation"),
      subscription_(create_subscription<CameraCallbacks::Object>(
          "/actuation", kQueueDepth,
          [&callbacks](const CameraCallbacks::Object& object) { callbacks.actuate(object); })) {}

Rclcpp::Rclcpp() {
  rclcpp::init(0, nullptr, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
}

Rclcpp::~Rclcpp() { rclcpp::shutdown(); }

CameraDemo::CameraDemo(Session& for_session, const LoggerTime& logger_time)
    : session(for_session),
      callbacks(session, logger_time),
      camera(std::make_shared<Camera>(callbacks)),
      processing(std::make_shared<CameraProcessing>(callbacks)),
      actuation(std::make_shared<Actuation>(callbacks)) {}

rclrt_rclcpp::Options CameraDemo::realtime(const char* name, int priority) const {
  using rclrt_rclcpp::engine::Realtime;
  rclrt_rclcpp::Options options;
  options.engine.name = name;
  options.engine.cpus = {session.cpu()};
  options.engine.realtime = session.realtime() ? Realtime::kRequire : Realtime::kOff;
  options.engine.top_priority = priority + 1;
  return options;
}

void CameraDemo::run(std::initializer_list<rclcpp::Executor*> executors) { run(executors, true); }

void CameraDemo::run_with_camera_timer(std::initializer_list<rclcpp::Executor*> executors) {
  run(executors, false);
}

void CameraDemo::run(std::initializer_list<rclcpp::Executor*> executors, bool camera_thread) {
  camera->wait_for_subscriptions(2);
  std::deque<SpinThread> spins;
  for (rclcpp::Executor* const executor : executors) {
    spins.emplace_back(*executor, session.normal());
  }
  realtime::CyclicThread publisher = make_camera_thread(session, [this] { camera->publish(); });
  if (camera_thread) {
    publisher.start();
  } else {
    camera->add_timer();  // not before: its grid begins here
  }
  session.wait();
  report_other_cameras(session, camera->count_publishers("/image"));
  publisher.stop();
  for (SpinThread& spin : spins) {
    spin.stop();
  }
  callbacks.add_notes(session);
}

}  // namespace rclrt::demos::on_rclcpp
