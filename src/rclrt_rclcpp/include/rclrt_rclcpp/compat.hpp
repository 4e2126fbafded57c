// SPDX-License-Identifier: Apache-2.0
// What differs between rclcpp 28 (Jazzy), 29 (Kilted), 31 and later ones (Lyrical): here and
// nowhere else. Not for users.
#pragma once

#include <rclcpp/version.h>

#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <vector>

namespace rclrt_rclcpp::compat {

/// What rclcpp::Executor's virtual functions take: values, since rclcpp 31 references.
template <typename>
struct ExecutorArguments;
/// Takes them from the type of rclcpp::Executor::add_callback_group.
template <typename Group, typename Node>
struct ExecutorArguments<void (rclcpp::Executor::*)(Group, Node, bool)> {
  using GroupArgument = Group;  ///< of a callback group
  using NodeArgument = Node;    ///< of a node
};
/// The argument that is a callback group.
using GroupArgument =
    ExecutorArguments<decltype(&rclcpp::Executor::add_callback_group)>::GroupArgument;
/// The argument that is a node.
using NodeArgument =
    ExecutorArguments<decltype(&rclcpp::Executor::add_callback_group)>::NodeArgument;

/// Whether a subscription's callback overlaps itself in a reentrant group: since rclcpp 31 (and
/// 30.1.5) it holds a mutex of rclcpp's while it runs.
inline constexpr bool kSubscriptionsOverlapThemselves = RCLCPP_VERSION_MAJOR < 30;

/// Returns the timers that a waitable wants to be run for it: known since rclcpp 29.
inline std::vector<rclcpp::TimerBase::SharedPtr> timers_of(
    [[maybe_unused]] const rclcpp::Waitable& waitable) {
#if RCLCPP_VERSION_MAJOR >= 29
  return waitable.get_timers();
#else
  return {};
#endif
}

/// Returns the clock of a timer; nullptr where rclcpp does not tell (before 29).
inline rclcpp::Clock::SharedPtr clock_of([[maybe_unused]] const rclcpp::TimerBase& timer) {
#if RCLCPP_VERSION_MAJOR >= 29
  return timer.get_clock();
#else
  return nullptr;
#endif
}

}  // namespace rclrt_rclcpp::compat
