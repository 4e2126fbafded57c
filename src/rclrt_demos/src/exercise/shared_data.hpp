// SPDX-License-Identifier: Apache-2.0
// Data that the control loop of the pendulum shares with threads that have no deadline. Exercises
// 2-1, 2-2 and 2-3 each have a wrong and a right way for one of the three.
#pragma once

#include <cstdint>

#include "exercise/pendulum.hpp"

namespace rclrt::demos {

/// The desired position of the pendulum. Any thread sets it; the control loop reads it.
class DesiredPosition {
 public:
  virtual ~DesiredPosition() = default;
  virtual void set(double position) noexcept = 0;
  virtual double get() noexcept = 0;
};

/// The constants of the controller. Any thread sets and reads them, also the control loop.
class SharedPidConstants {
 public:
  virtual ~SharedPidConstants() = default;
  virtual void set(const PidConstants& constants) noexcept = 0;
  virtual PidConstants get() noexcept = 0;
};

/// The data of one cycle of the control loop.
struct Sample {
  std::int64_t stamp_ns = 0;  ///< CLOCK_REALTIME, as stamps of ROS messages
  double position = 0;
};

/// Samples on their way from the control loop to the ROS node.
class SampleQueue {
 public:
  virtual ~SampleQueue() = default;
  /// Returns false, and drops the sample, if there is no room. For the control loop.
  virtual bool push(const Sample& sample) noexcept = 0;
  /// Takes a sample. Returns false if there is none. For the ROS node.
  virtual bool pop(Sample& sample) noexcept = 0;
};

}  // namespace rclrt::demos
