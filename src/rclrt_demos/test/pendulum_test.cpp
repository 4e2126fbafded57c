// SPDX-License-Identifier: Apache-2.0
#include "exercise/pendulum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rclrt::demos {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(Pendulum, StartsAtSixTenthsOfARadianAtRest) {
  const Pendulum pendulum;
  EXPECT_EQ(pendulum.position(), 0.6);
  EXPECT_EQ(pendulum.velocity(), 0.0);
}

TEST(Pendulum, FallsInAStepAsCalculatedByHand) {
  Pendulum pendulum;
  // 9.81 / 0.5 * sin(0.6) = 19.62 * 0.564642473 = 11.078285328 rad/s², for 1 ms.
  EXPECT_NEAR(pendulum.read_sensor(0.001), 0.600'011'078'285, 1e-12);
  EXPECT_NEAR(pendulum.velocity(), 0.011'078'285, 1e-9);
}

TEST(Pendulum, AddsTheCommandToTheVelocityAtEachStep) {
  Pendulum falling;
  Pendulum held;
  held.write_command(-0.25);
  for (int step = 1; step <= 3; ++step) {
    falling.read_sensor(1e-9);  // so short that gravity does nothing
    held.read_sensor(1e-9);
    EXPECT_NEAR(held.velocity() - falling.velocity(), -0.25 * step, 1e-9);
  }
}

TEST(Pendulum, BouncesOffTheFloorWithFourTenthsOfItsVelocity) {
  for (const double side : {1.0, -1.0}) {
    Pendulum pendulum;
    pendulum.write_command(side * 1000);  // far beyond the floor within the step
    EXPECT_EQ(pendulum.read_sensor(0.01), side * kPi / 2);
    const double before = side * 1000 + 9.81 / 0.5 * std::sin(0.6) * 0.01;
    EXPECT_NEAR(pendulum.velocity(), -0.4 * before, 1e-9);
  }
}

TEST(Pendulum, ResetPutsItBackToTheStartAtRest) {
  Pendulum pendulum;
  pendulum.read_sensor(0.1);
  pendulum.reset();
  EXPECT_EQ(pendulum.position(), Pendulum::kStart);
  EXPECT_EQ(pendulum.velocity(), 0.0);
}

TEST(PidController, FollowsTheControlLawInAStepByHand) {
  PidController controller;
  // Error -0.1: 5e-4 * -0.1 + 1e-5 * -0.1 / 0.001 = -0.00105, over 1 ms: -1.05, clamped; at a tenth
  // of the error it is not.
  EXPECT_NEAR(controller.command(0.01, 0.0, {.kp = 5e-4, .ki = 0, .kd = 1e-5}, 0.001), -0.105,
              1e-12);
  // The error has not changed: only the first term is left.
  EXPECT_NEAR(controller.command(0.01, 0.0, {.kp = 5e-4, .ki = 0, .kd = 1e-5}, 0.001), -0.005,
              1e-12);
}

TEST(PidController, SumsTheErrorOverTime) {
  PidController controller;
  const PidConstants integral{.kp = 0, .ki = 1e-3, .kd = 0};
  // 1e-3 * (0.5 * 0.01) / 0.01, then twice the sum.
  EXPECT_NEAR(controller.command(0.0, 0.5, integral, 0.01), 5e-4, 1e-15);
  EXPECT_NEAR(controller.command(0.0, 0.5, integral, 0.01), 1e-3, 1e-15);
}

TEST(PidController, StopsSummingAtItsLimit) {
  PidController controller;
  const PidConstants integral{.kp = 0, .ki = 1e-3, .kd = 0};
  controller.command(0.0, 1000.0, integral, 1.0);
  // 1e-3 * 100 / 1 rad/s, not 1e-3 * 2000.
  EXPECT_NEAR(controller.command(0.0, 1000.0, integral, 1.0), 0.1, 1e-12);
}

TEST(PidController, KeepsTheCommandWithinAQuarterOfPi) {
  PidController controller;
  EXPECT_EQ(controller.command(0.0, 1.5, {}, 0.001), kPi / 4);
  EXPECT_EQ(controller.command(0.0, -1.5, {}, 0.001), -kPi / 4);
}

TEST(PidController, BringsThePendulumUprightAndKeepsItThere) {
  Pendulum pendulum;
  PidController controller;
  double largest_late_error = 0;
  for (int cycle = 0; cycle < 5000; ++cycle) {
    const double position = pendulum.read_sensor(0.001);
    pendulum.write_command(controller.command(position, 0.0, {}, 0.001));
    if (cycle >= 2000) {
      largest_late_error = std::max(largest_late_error, std::abs(position));
    }
  }
  EXPECT_LT(largest_late_error, 0.01);
}

TEST(PidController, WithoutItThePendulumFallsToTheFloor) {
  Pendulum pendulum;
  double highest = 0;
  for (int cycle = 0; cycle < 2000; ++cycle) {
    highest = std::max(highest, pendulum.read_sensor(0.001));
  }
  EXPECT_EQ(highest, kPi / 2);
}

}  // namespace
}  // namespace rclrt::demos
