// SPDX-License-Identifier: Apache-2.0
// Exercise 3-2 on rclcpp: as 3-1, on a machine with other load: run it under stress. With more
// threads, the detector need not wait for the logger, but still has to share the CPU.
#include "exercise/session.hpp"
#include "on_rclcpp/camera.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program
using on_rclcpp::CameraDemo;

constexpr Exercise kExercise{
    .name = "3-2",
    .baseline = "rclcpp's MultiThreadedExecutor of two threads, which knows no priorities",
    .solution =
        "rclrt_rclcpp's PreemptiveExecutor, the object detector's priority above the data "
        "logger's",
    .priority = kCameraPriority,
    .client = "rclcpp",
};

/// The flaw of the exercise: the executor has a second thread, so the object detector does not wait
/// for the data logger. But under normal scheduling both threads share the CPU with each other and
/// all other load.
void run_baseline(Session& session) {
  CameraDemo demo(session, kVaryingLogger);
  rclcpp::executors::MultiThreadedExecutor executor(rclcpp::ExecutorOptions(), 2);
  executor.add_node(demo.processing);
  executor.add_node(demo.actuation);
  demo.run({&executor});
}

/// The fix: only the camera comes before the detector, under any load.
void run_solution(Session& session) {
  CameraDemo demo(session, kVaryingLogger);
  rclrt_rclcpp::PreemptiveExecutor executor(demo.realtime("executor", 80));
  executor.add_node(demo.processing);
  executor.add_node(demo.actuation);
  executor.set_priority(demo.processing->detector_group(), 1);
  executor.set_priority(demo.actuation, 1);
  demo.run({&executor});
}

void run(Session& session) { session.solution() ? run_solution(session) : run_baseline(session); }

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
