// SPDX-License-Identifier: Apache-2.0
// Exercise 2-3: the control loop hands each sample to the ROS node. See sample_queue.hpp for the
// flaw and the fix.
#include "sample_queue.hpp"

#include "desired_position.hpp"
#include "exercise/pendulum_exercise.hpp"
#include "exercise/session.hpp"
#include "pid_constants.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr Exercise kExercise{
    .name = "2-3",
    .baseline = "the samples go through a std::queue behind a std::mutex",
    .solution = "they go through a lock-free queue of one producer and one consumer",
    .priority = kControlPriority,
};

void run(Session& session) {
  LockedQueue flaw;
  LockFreeQueue fix;
  SampleQueue& samples =
      session.solution() ? static_cast<SampleQueue&>(fix) : static_cast<SampleQueue&>(flaw);

  AtomicPosition desired;
  PiMutexConstants constants;
  run_pendulum(session, desired, constants, samples);
}

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
