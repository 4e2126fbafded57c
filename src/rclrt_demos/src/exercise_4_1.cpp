// SPDX-License-Identifier: Apache-2.0
// Exercise 4-1: a camera that is to publish every 33.3 ms.
#include "exercise/camera.hpp"
#include "exercise/session.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr Exercise kExercise{
    .name = "4-1",
    .baseline = "the camera's timer is in the executor that processes the images",
    .solution = "the camera's timer is in an executor of its own under SCHED_FIFO 90",
    .priority = kCameraPriority,
};

/// The flaw: the timer waits for the running callback.
void run_baseline(Session& session) {
  CameraDemo demo(session, kLongLogger);
  demo.camera.add_timer();
  rclrt::WaitSetExecutor executor(demo.context, demo.best_effort("executor"));
  executor.add_node(demo.camera.node());
  executor.add_node(demo.processing.node());
  executor.add_node(demo.actuation.node());
  demo.run_with_camera_timer({&executor});
}

/// The fix: two executors of the same kind. The camera's runs in a real-time thread.
void run_solution(Session& session) {
  CameraDemo demo(session, kLongLogger);
  demo.camera.add_timer();
  rclrt::WaitSetExecutor camera_executor(demo.context, demo.realtime("camera", kCameraPriority));
  camera_executor.add_node(demo.camera.node());
  rclrt::WaitSetExecutor executor(demo.context, demo.best_effort("executor"));
  executor.add_node(demo.processing.node());
  executor.add_node(demo.actuation.node());
  demo.run_with_camera_timer({&camera_executor, &executor});
}

void run(Session& session) { session.solution() ? run_solution(session) : run_baseline(session); }

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
