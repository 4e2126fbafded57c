// SPDX-License-Identifier: Apache-2.0
// Exercise 3-1: an object detector, which is urgent, and a data logger, which is best-effort, get
// the same images.
#include "exercise/camera.hpp"
#include "exercise/session.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr Exercise kExercise{
    .name = "3-1",
    .baseline = "one single-threaded executor runs callbacks in the order of their creation",
    .solution = "an executor with priorities, the object detector's above the data logger's",
    .priority = kCameraPriority,
};

/// The flaw: the data logger was created first, so the detector waits for it with each image.
void run_baseline(Session& session) {
  CameraDemo demo(session, kVaryingLogger);
  rclrt::WaitSetExecutor executor(demo.context, demo.best_effort("executor"));
  executor.add_node(demo.processing.node());
  executor.add_node(demo.actuation.node());
  demo.run({&executor});
}

/// The fix: the order of creation does not matter, and the detector interrupts the logger.
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
