// SPDX-License-Identifier: Apache-2.0
// Exercise 2-1: the control loop reads a number that another thread sets. See desired_position.hpp
// for the flaw and the fix.
#include <chrono>
#include <cmath>

#include "desired_position.hpp"
#include "exercise/pendulum_exercise.hpp"
#include "exercise/session.hpp"
#include "pid_constants.hpp"
#include "rclrt/realtime/clock.hpp"
#include "sample_queue.hpp"

namespace {

using namespace rclrt::demos;  // NOLINT(google-build-using-namespace): this is its program

constexpr Exercise kExercise{
    .name = "2-1",
    .baseline = "the desired position is behind a std::mutex",
    .solution = "the desired position is a lock-free atomic",
    .priority = kControlPriority,
};

void run(Session& session) {
  MutexPosition flaw;
  AtomicPosition fix;
  DesiredPosition& desired =
      session.solution() ? static_cast<DesiredPosition&>(fix) : static_cast<DesiredPosition&>(flaw);

  PiMutexConstants constants;
  LockFreeQueue samples(std::chrono::nanoseconds(0));
  // Sets the position all the time, to show an effect that otherwise happens once a month.
  run_pendulum(session, desired, constants, samples, [&desired] {
    desired.set(std::sin(static_cast<double>(rclrt::realtime::monotonic_now_ns()) / 1e9));
  });
}

}  // namespace

int main(int argc, char** argv) { return run_exercise(kExercise, argc, argv, run); }
