// SPDX-License-Identifier: Apache-2.0
// What differs between rclcpp 28 (Jazzy), 29 (Kilted) and later ones: here and nowhere else.
#pragma once

#include <rclcpp/version.h>

#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <vector>

namespace rclrt_rclcpp::compat {

/// The timers that a waitable wants to be run for it: known since rclcpp 29.
inline std::vector<rclcpp::TimerBase::SharedPtr> timers_of(
    [[maybe_unused]] const rclcpp::Waitable& waitable) {
#if RCLCPP_VERSION_MAJOR >= 29
  return waitable.get_timers();
#else
  return {};
#endif
}

/// The clock of a timer; nullptr where rclcpp does not tell (before 29).
inline rclcpp::Clock::SharedPtr clock_of([[maybe_unused]] const rclcpp::TimerBase& timer) {
#if RCLCPP_VERSION_MAJOR >= 29
  return timer.get_clock();
#else
  return nullptr;
#endif
}

}  // namespace rclrt_rclcpp::compat
