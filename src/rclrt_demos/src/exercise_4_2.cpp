// SPDX-License-Identifier: Apache-2.0
// Exercise 4-2: one node has an urgent callback and a best-effort one.
// Executors without priorities are enough, if there are two.
#include "exercise/camera.hpp"
#include "exercise/session.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr int kRealtimePriority = 60;

constexpr Exercise kExercise{
    .name = "4-2",
    .baseline = "one executor runs object detector, data logger and actuation",
    .solution =
        "detector and actuation are in an executor under SCHED_FIFO 60, the logger in another",
    .priority = kCameraPriority,
};

/// The flaw: the time from image to actuation includes the logging.
void run_baseline(Session& session) {
  CameraDemo demo(session, kMediumLogger);
  rclrt::WaitSetExecutor executor(demo.context, demo.best_effort("executor"));
  executor.add_node(demo.processing.node());
  executor.add_node(demo.actuation.node());
  demo.run({&executor});
}

/// The fix of the exercise: the callbacks of the node are in different callback groups, and each
/// group is added to an executor of its own. (In rclrt, a callback without a stated group is a
/// group of its own.)
void run_solution(Session& session) {
  CameraDemo demo(session, kMediumLogger);
  rclrt::WaitSetExecutor realtime(demo.context, demo.realtime("realtime", kRealtimePriority));
  realtime.add(demo.processing.detector());
  realtime.add_node(demo.actuation.node());
  rclrt::WaitSetExecutor best_effort(demo.context, demo.best_effort("best_effort"));
  best_effort.add(demo.processing.logger());
  demo.run({&realtime, &best_effort});
}

void run(Session& session) { session.solution() ? run_solution(session) : run_baseline(session); }

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
