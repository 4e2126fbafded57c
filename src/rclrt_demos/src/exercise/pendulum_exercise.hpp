// SPDX-License-Identifier: Apache-2.0
// The common part of exercises 2-1, 2-2 and 2-3: the control loop, and the ROS node beside it.
#pragma once

#include <functional>

#include "exercise/session.hpp"
#include "exercise/shared_data.hpp"

namespace rclrt::demos {

/// Priority of the control loop.
inline constexpr int kControlPriority = 80;

/// Runs until the session ends: a control loop of 1 kHz, the ROS node, and, if given,
/// `without_deadline` repeatedly in a thread of normal scheduling. All are on one CPU.
void run_pendulum(Session& session, DesiredPosition& desired, SharedPidConstants& constants,
                  SampleQueue& samples, std::function<void()> without_deadline = {});

}  // namespace rclrt::demos
