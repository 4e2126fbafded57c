// SPDX-License-Identifier: Apache-2.0
// The nodes of exercises 3 and 4: a camera, the users of its images, and the motor at the end.
#pragma once

#include <initializer_list>
#include <memory>
#include <rclrt/executors.hpp>
#include <rclrt/node.hpp>

#include "exercise/camera_callbacks.hpp"
#include "exercise/session.hpp"

namespace rclrt::demos {

/// Priorities of the callbacks, for executors that honour them.
struct CameraPriorities {
  int logger = 0;
  int detector = 0;
  int actuation = 0;
};

/// Publishes an image at each call of `publish`.
class Camera {
 public:
  Camera(CameraCallbacks& callbacks, const std::shared_ptr<Context>& context);

  /// Publishes an image. One thread at a time.
  void publish() noexcept;

  /// Makes a timer of the node that publishes.
  void add_timer();

  const Node& node() const noexcept { return node_; }

  /// Waits until `count` subscriptions are matched. Throws std::runtime_error after 30 s.
  void wait_for_subscriptions(std::size_t count) const;

 private:
  using Image = CameraCallbacks::Image;

  CameraCallbacks& callbacks_;
  Node node_;
  const std::shared_ptr<Publisher<Image>> publisher_;
  const std::unique_ptr<Image> image_;  // too large for a stack
};

/// The node of the data logger, which is created first, and of the object detector.
class CameraProcessing {
 public:
  CameraProcessing(CameraCallbacks& callbacks, const std::shared_ptr<Context>& context,
                   const CameraPriorities& priorities);

  const Node& node() const noexcept { return node_; }
  const std::shared_ptr<executor::Callback>& logger() const noexcept { return logger_; }
  const std::shared_ptr<executor::Callback>& detector() const noexcept { return detector_; }

 private:
  using Image = CameraCallbacks::Image;
  using Object = CameraCallbacks::Object;

  Node node_;
  const std::shared_ptr<Publisher<Object>> publisher_;
  const std::shared_ptr<executor::Callback> logger_;
  const std::shared_ptr<executor::Callback> detector_;
};

/// The node of the motor.
class Actuation {
 public:
  Actuation(CameraCallbacks& callbacks, const std::shared_ptr<Context>& context,
            const CameraPriorities& priorities);

  const Node& node() const noexcept { return node_; }

 private:
  Node node_;
};

/// All nodes of the exercise.
struct CameraDemo {
  /// Makes the nodes, in a context that leaves the signals to the session.
  CameraDemo(Session& for_session, const LoggerTime& logger_time,
             const CameraPriorities& priorities = {});

  /// Returns options for an executor with its threads on the exercise's CPU: without real time.
  ExecutorOptions best_effort(const char* name) const;
  /// Returns the same under SCHED_FIFO, if that is permitted, from `priority` downwards.
  ExecutorOptions realtime(const char* name, int priority) const;

  /// Runs until the session ends: spins each executor in a thread of its own, and publishes the
  /// images from a thread of the camera. Call either this function or run_with_camera_timer(),
  /// once.
  void run(std::initializer_list<Executor*> executors);
  /// Spins each executor in a thread until the session ends; one of them has the camera's timer.
  void run_with_camera_timer(std::initializer_list<Executor*> executors);

  Session& session;
  const std::shared_ptr<Context> context;
  CameraCallbacks callbacks;
  Camera camera;
  CameraProcessing processing;
  Actuation actuation;

 private:
  void run(std::initializer_list<Executor*> executors, bool camera_thread);
};

}  // namespace rclrt::demos
