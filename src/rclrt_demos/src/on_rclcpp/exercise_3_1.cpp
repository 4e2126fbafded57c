// SPDX-License-Identifier: Apache-2.0
// Exercise 3-1 on rclcpp: an object detector, which is urgent, and a data logger, which is
// best-effort, get the same images.
#include "exercise/session.hpp"
#include "on_rclcpp/camera.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program
using on_rclcpp::CameraDemo;

constexpr Exercise kExercise{
    .name = "3-1",
    .baseline = "rclcpp's SingleThreadedExecutor, which knows no priorities",
    .solution =
        "rclrt_rclcpp's PreemptiveExecutor, the object detector's priority above the data "
        "logger's",
    .priority = kCameraPriority,
    .client = "rclcpp",
};

/// The flaw: one thread runs everything, so the actuation waits for the data logger.
void run_baseline(Session& session) {
  CameraDemo demo(session, kVaryingLogger);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(demo.processing);
  executor.add_node(demo.actuation);
  demo.run({&executor});
}

/// The fix: another executor, with priorities. The detector interrupts the logger.
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
