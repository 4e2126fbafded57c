// SPDX-License-Identifier: Apache-2.0
// A chain over two processes into which misses are injected, and who hears what is told of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rclrt_rclcpp::test {

/// What is injected, as the number in a message on /inject.
enum Injection : std::uint32_t { kNone, kFilterBlocked, kFilterSlow, kControllerBlocked };
inline constexpr std::uint32_t kInjections = 4;

inline constexpr std::chrono::milliseconds kHeldUp{70};
inline constexpr std::chrono::milliseconds kMonitorPeriod{200};

/// Runs one process of the chain, "filter" or "controller", until somebody publishes /stop. Prints
/// what the step has seen: its name, instances, misses, misses that the engine reported, and those
/// of them that the step cannot have missed.
int run_process(const std::string& role);

}  // namespace rclrt_rclcpp::test
