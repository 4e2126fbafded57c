// SPDX-License-Identifier: Apache-2.0
#include "exercise/pendulum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rclrt::demos {

namespace {
constexpr double kFloor = std::numbers::pi / 2;
constexpr double kMaxCommand = std::numbers::pi / 4;
}  // namespace

double Pendulum::read_sensor(double dt) noexcept {
  const double acceleration = kGravity / kLength * std::sin(position_);
  velocity_ += acceleration * dt + command_;
  position_ += velocity_ * dt;
  if (std::abs(position_) > kFloor) {
    position_ = std::clamp(position_, -kFloor, kFloor);
    velocity_ *= kRebound;
  }
  return position_;
}

void Pendulum::reset() noexcept {
  position_ = kStart;
  velocity_ = 0;
}

double PidController::command(double position, double desired, const PidConstants& constants,
                              double dt) noexcept {
  const double error = desired - position;
  integral_ = std::clamp(integral_ + error * dt, -kMaxIntegral, kMaxIntegral);
  const double change =
      constants.kp * error + constants.ki * integral_ + constants.kd * (error - last_error_) / dt;
  last_error_ = error;
  return std::clamp(change / dt, -kMaxCommand, kMaxCommand);
}

}  // namespace rclrt::demos
