// SPDX-License-Identifier: Apache-2.0
// The nodes of exercises 3 and 4 as plain rclcpp nodes: see exercise/camera.hpp for those of rclrt.
#pragma once

#include <initializer_list>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclrt_rclcpp/executors.hpp>

#include "exercise/camera_callbacks.hpp"
#include "exercise/session.hpp"

namespace rclrt::demos::on_rclcpp {

/// Publishes an image at each call of `publish`.
class Camera : public rclcpp::Node {
 public:
  explicit Camera(CameraCallbacks& callbacks);

  /// Publishes an image. One thread at a time.
  void publish();

  /// Makes a timer of the node that publishes.
  void add_timer();

  /// Waits until `count` subscriptions are matched. Throws std::runtime_error after 30 s.
  void wait_for_subscriptions(std::size_t count);

 private:
  using Image = CameraCallbacks::Image;

  CameraCallbacks& callbacks_;
  const rclcpp::Publisher<Image>::SharedPtr publisher_;
  const std::unique_ptr<Image> image_;  // too large for a stack
  rclcpp::TimerBase::SharedPtr timer_;
};

/// A node with the callbacks of the data logger, which is created first, and of the object
/// detector. Each callback has a callback group of its own, because two callbacks of one mutually
/// exclusive group would wait for each other under every executor.
class CameraProcessing : public rclcpp::Node {
 public:
  explicit CameraProcessing(CameraCallbacks& callbacks);

  const rclcpp::CallbackGroup::SharedPtr& logger_group() const noexcept { return logger_group_; }
  const rclcpp::CallbackGroup::SharedPtr& detector_group() const noexcept {
    return detector_group_;
  }

 private:
  using Image = CameraCallbacks::Image;
  using Object = CameraCallbacks::Object;

  const rclcpp::Publisher<Object>::SharedPtr publisher_;
  const rclcpp::CallbackGroup::SharedPtr logger_group_;
  const rclcpp::CallbackGroup::SharedPtr detector_group_;
  rclcpp::Subscription<Image>::SharedPtr logger_;
  rclcpp::Subscription<Image>::SharedPtr detector_;
};

/// The node of the motor.
class Actuation : public rclcpp::Node {
 public:
  explicit Actuation(CameraCallbacks& callbacks);

 private:
  const rclcpp::Subscription<CameraCallbacks::Object>::SharedPtr subscription_;
};

/// Initialises rclcpp, with the signals left to the session, and shuts it down at the end.
struct Rclcpp {
  Rclcpp();
  ~Rclcpp();
  Rclcpp(const Rclcpp&) = delete;
  Rclcpp& operator=(const Rclcpp&) = delete;
};

/// All nodes of the exercise. Only one object at a time.
struct CameraDemo {
  /// Makes the nodes.
  CameraDemo(Session& for_session, const LoggerTime& logger_time);

  /// Returns options for an executor of rclrt_rclcpp on the exercise's CPU. Its threads run under
  /// SCHED_FIFO, if that is permitted, at `priority` and below.
  rclrt_rclcpp::Options realtime(const char* name, int priority) const;

  /// Runs until the session ends: spins each executor in a thread of normal scheduling on the
  /// exercise's CPU, and publishes the images from a thread of the camera. (An executor of
  /// rclrt_rclcpp runs its callbacks in other threads, which it starts itself.) Call either this
  /// function or run_with_camera_timer(), once.
  void run(std::initializer_list<rclcpp::Executor*> executors);
  /// Spins each executor until the session ends. The executor to which the camera's node is added
  /// publishes the images, from a timer.
  void run_with_camera_timer(std::initializer_list<rclcpp::Executor*> executors);

  Session& session;
  const Rclcpp rclcpp;
  CameraCallbacks callbacks;
  const std::shared_ptr<Camera> camera;
  const std::shared_ptr<CameraProcessing> processing;
  const std::shared_ptr<Actuation> actuation;

 private:
  void run(std::initializer_list<rclcpp::Executor*> executors, bool camera_thread);
};

}  // namespace rclrt::demos::on_rclcpp
