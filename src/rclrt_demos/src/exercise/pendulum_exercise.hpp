// SPDX-License-Identifier: Apache-2.0
// The common part of exercises 2-1, 2-2 and 2-3: the control loop, and the ROS node beside it.
#pragma once

#include <functional>

#include "exercise/session.hpp"
#include "exercise/shared_data.hpp"

namespace rclrt::demos {

/// Priority of the control loop.
inline constexpr int kControlPriority = 80;

/// Runs three threads on one CPU until the session ends: the control loop at 1 kHz, the executor of
/// the ROS node, and a thread of normal scheduling that calls `without_deadline` again and again.
/// Without `without_deadline`, the third one does not exist.
void run_pendulum(Session& session, DesiredPosition& desired, SharedPidConstants& constants,
                  SampleQueue& samples, std::function<void()> without_deadline = {});

}  // namespace rclrt::demos
