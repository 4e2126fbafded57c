// SPDX-License-Identifier: Apache-2.0
// Exercise 3-2: as 3-1, on a machine with other load: run it under stress. With more threads, the
// detector need not wait for the logger, but still has to share the CPU.
#include "exercise/camera.hpp"
#include "exercise/session.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr Exercise kExercise{
    .name = "3-2",
    .baseline = "an executor of two threads, without priorities",
    .solution = "an executor with priorities, the object detector's above the data logger's",
    .priority = kCameraPriority,
};

/// The flaw of the exercise: the executor has a second thread, so the object detector does not wait
/// for the data logger. But under normal scheduling both threads share the CPU with each other and
/// all other load.
void run_baseline(Session& session) {
  CameraDemo demo(session, kVaryingLogger);
  rclrt::WaitSetExecutor executor(demo.context, demo.best_effort("executor"), {.threads = 2});
  executor.add_node(demo.processing.node());
  executor.add_node(demo.actuation.node());
  demo.run({&executor});
}

/// The fix: only the camera comes before the detector, under any load.
void run_solution(Session& session) {
  CameraDemo demo(session, kVaryingLogger, {.logger = 0, .detector = 1, .actuation = 1});
  rclrt::PreemptiveExecutor executor(demo.context, demo.realtime("executor", 80));
  executor.add_node(demo.processing.node());
  executor.add_node(demo.actuation.node());
  demo.run({&executor});
}

void run(Session& session) { session.solution() ? run_solution(session) : run_baseline(session); }

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
