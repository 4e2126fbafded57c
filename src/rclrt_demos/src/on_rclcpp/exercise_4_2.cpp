// SPDX-License-Identifier: Apache-2.0
// Exercise 4-2 on rclcpp: one node has an urgent callback and a best-effort one.
// Its callback groups are in two executors.
#include "exercise/session.hpp"
#include "on_rclcpp/camera.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program
using on_rclcpp::CameraDemo;

constexpr int kRealtimePriority = 60;

constexpr Exercise kExercise{
    .name = "4-2",
    .baseline = "one SingleThreadedExecutor runs object detector, data logger and actuation",
    .solution =
        "detector and actuation are in rclrt_rclcpp's PreemptiveExecutor under SCHED_FIFO "
        "60, the logger in a SingleThreadedExecutor",
    .priority = kCameraPriority,
    .client = "rclcpp",
};

/// The flaw: the time from image to actuation includes the logging.
void run_baseline(Session& session) {
  CameraDemo demo(session, kMediumLogger);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(demo.processing);
  executor.add_node(demo.actuation);
  demo.run({&executor});
}

/// The fix: each group of the node is in its own executor.
void run_solution(Session& session) {
  CameraDemo demo(session, kMediumLogger);
  rclrt_rclcpp::PreemptiveExecutor realtime(demo.realtime("realtime", kRealtimePriority));
  realtime.add_callback_group(demo.processing->detector_group(),
                              demo.processing->get_node_base_interface());
  realtime.add_node(demo.actuation);
  rclcpp::executors::SingleThreadedExecutor best_effort;
  best_effort.add_callback_group(demo.processing->logger_group(),
                                 demo.processing->get_node_base_interface());
  demo.run({&realtime, &best_effort});
}

void run(Session& session) { session.solution() ? run_solution(session) : run_baseline(session); }

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
