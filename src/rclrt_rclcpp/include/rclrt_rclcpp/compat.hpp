// SPDX-License-Identifier: Apache-2.0
// The differences between rclcpp 28 (Jazzy), 29 (Kilted), and 31 and later (Lyrical has 32, Rolling
// 33). All of them are in this file. Not for users.
#pragma once

#include <rclcpp/version.h>

#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <vector>

namespace rclrt_rclcpp::compat {

/// Argument types of rclcpp::Executor's virtual functions: values, since rclcpp 31 references.
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

/// true: in a reentrant group a subscription's callback can run several times at once. Since rclcpp
/// 31 (and 30.1.5) rclcpp locks a mutex of the subscription while its callback runs.
inline constexpr bool kSubscriptionsOverlapThemselves = RCLCPP_VERSION_MAJOR < 30;

/// Returns the timers that rclcpp runs on behalf of a waitable. Available since rclcpp 29.
inline std::vector<rclcpp::TimerBase::SharedPtr> timers_of(
    [[maybe_unused]] const rclcpp::Waitable& waitable) {
#if RCLCPP_VERSION_MAJOR >= 29
  return waitable.get_timers();
#else
  return {};
#endif
}

/// Returns the clock of a timer; nullptr before rclcpp 29, which does not expose it.
inline rclcpp::Clock::SharedPtr clock_of([[maybe_unused]] const rclcpp::TimerBase& timer) {
#if RCLCPP_VERSION_MAJOR >= 29
  return timer.get_clock();
#else
  return nullptr;
#endif
}

}  // namespace rclrt_rclcpp::compat
