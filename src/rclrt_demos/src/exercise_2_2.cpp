// SPDX-License-Identifier: Apache-2.0
// Exercise 2-2: the control loop reads three numbers that belong together. See pid_constants.hpp
// for the flaw and the fix.
#include <chrono>

#include "desired_position.hpp"
#include "exercise/pendulum_exercise.hpp"
#include "exercise/session.hpp"
#include "pid_constants.hpp"
#include "sample_queue.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr Exercise kExercise{
    .name = "2-2",
    .baseline = "the constants of the controller are behind a std::mutex",
    .solution = "they are behind a mutex with priority inheritance",
    .priority = kControlPriority,
};

void run(Session& session) {
  MutexConstants flaw;
  PiMutexConstants fix;
  SharedPidConstants& constants = session.solution() ? static_cast<SharedPidConstants&>(fix)
                                                     : static_cast<SharedPidConstants&>(flaw);

  AtomicPosition desired;
  LockFreeQueue samples(std::chrono::nanoseconds(0));
  // Reads them all the time, to show an effect that otherwise happens once a month.
  run_pendulum(session, desired, constants, samples, [&constants] { constants.get(); });
}

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
