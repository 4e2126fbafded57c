// SPDX-License-Identifier: Apache-2.0
// The threads that rclrt itself starts, which no thread plan of a robot touches.
#pragma once

#include <cstddef>

#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt_rclcpp {

/// Puts rules before the user's that keep rclrt's own threads as executors schedule them.
rclrt::realtime::ThreadPlan with_own_threads(rclrt::realtime::ThreadPlan plan);

/// Returns how many rules these are.
std::size_t own_thread_rules() noexcept;

/// Takes these threads out of a report, whose indices of rules then are the user's.
rclrt::realtime::ThreadPlanReport without_own_threads(rclrt::realtime::ThreadPlanReport report);

}  // namespace rclrt_rclcpp
