// SPDX-License-Identifier: Apache-2.0
// An inverted pendulum, simulated, and the controller that keeps it.
#pragma once

#include "rclrt/realtime/safety.hpp"

namespace rclrt::demos {

/// The constants of a PID controller.
struct PidConstants {
  double kp = 5e-4;
  double ki = 0;
  double kd = 1e-5;

  bool operator==(const PidConstants&) const = default;
};

/// A mass on a massless rod over a motor. Angles in rad, 0 upright; times in s.
class Pendulum {
 public:
  static constexpr double kLength = 0.5;    ///< m
  static constexpr double kGravity = 9.81;  ///< m/s²
  static constexpr double kStart = 0.6;
  static constexpr double kRebound = -0.4;  ///< factor of the velocity at a bounce

  /// Advances the simulation by `dt` seconds and returns the pendulum's angle in rad. Without a
  /// command the pendulum falls; at ±pi/2 it bounces off the floor.
  double read_sensor(double dt) noexcept RCLRT_NONBLOCKING;

  /// Sets the velocity that the motor adds at each step from now on, in rad/s.
  void write_command(double velocity) noexcept RCLRT_NONBLOCKING { command_ = velocity; }

  /// Puts the pendulum back to its start, at rest.
  void reset() noexcept RCLRT_NONBLOCKING;

  double position() const noexcept RCLRT_NONBLOCKING { return position_; }
  double velocity() const noexcept RCLRT_NONBLOCKING { return velocity_; }

 private:
  double position_ = kStart;
  double velocity_ = 0;
  double command_ = 0;
};

/// Computes the command of the motor.
class PidController {
 public:
  static constexpr double kMaxIntegral = 100;  ///< of the error over time, either way

  /// Returns the velocity in rad/s for `Pendulum::write_command`, within ±pi/4. Angles are in rad;
  /// `dt` is the time in seconds since the last call and must be positive.
  double command(double position, double desired, const PidConstants& constants,
                 double dt) noexcept RCLRT_NONBLOCKING;

 private:
  double integral_ = 0;
  double last_error_ = 0;
};

}  // namespace rclrt::demos
