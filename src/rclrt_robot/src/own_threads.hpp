// SPDX-License-Identifier: Apache-2.0
// The threads that rclrt itself starts; a robot's thread plan does not change them.
#pragma once

#include <cstddef>

#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt_robot {

/// Adds rules before the user's that keep rclrt's own threads as executors schedule them.
rclrt::realtime::ThreadPlan with_own_threads(rclrt::realtime::ThreadPlan plan);

/// Returns the number of these rules.
std::size_t own_thread_rules() noexcept;

/// Removes these threads from a report. Its indices of rules then refer to the user's rules.
rclrt::realtime::ThreadPlanReport without_own_threads(rclrt::realtime::ThreadPlanReport report);

}  // namespace rclrt_robot
