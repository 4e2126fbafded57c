// SPDX-License-Identifier: Apache-2.0
// Exercise 4-1 on rclcpp: a camera that is to publish every 33.3 ms.
#include "exercise/session.hpp"
#include "on_rclcpp/camera.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program
using on_rclcpp::CameraDemo;

constexpr Exercise kExercise{
    .name = "4-1",
    .baseline = "the camera's timer is in the SingleThreadedExecutor that processes the images",
    .solution = "the camera's timer is in rclrt_rclcpp's PreemptiveExecutor under SCHED_FIFO 90",
    .priority = kCameraPriority,
    .client = "rclcpp",
};

/// The flaw: the timer waits for the running callback.
void run_baseline(Session& session) {
  CameraDemo demo(session, kLongLogger);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(demo.camera);
  executor.add_node(demo.processing);
  executor.add_node(demo.actuation);
  demo.run_with_camera_timer({&executor});
}

/// The fix: the camera has an executor of its own, with a real-time thread.
void run_solution(Session& session) {
  CameraDemo demo(session, kLongLogger);
  rclrt_rclcpp::PreemptiveExecutor camera_executor(demo.realtime("camera", kCameraPriority));
  camera_executor.add_node(demo.camera);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(demo.processing);
  executor.add_node(demo.actuation);
  demo.run_with_camera_timer({&camera_executor, &executor});
}

void run(Session& session) { session.solution() ? run_solution(session) : run_baseline(session); }

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
