// SPDX-License-Identifier: Apache-2.0
// A chain over two processes into which misses are injected, and who hears what is told of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt_rclcpp::test {

/// What is injected, as the number in a message on /inject.
enum Injection : std::uint32_t { kNone, kFilterBlocked, kFilterSlow, kControllerBlocked };
inline constexpr std::uint32_t kInjections = 4;

/// Which process is to end, as the number in a message on /stop. They end one after the other: Fast
/// DDS may never end one that ends together with others (Fast-DDS#6513).
enum Process : std::uint32_t { kFilter, kController };

/// Where each miss is told by itself.
inline constexpr const char* kMisses = "/misses";

inline constexpr std::chrono::milliseconds kSensorPeriod{20};
inline constexpr std::chrono::milliseconds kHeldUp{70};
inline constexpr std::chrono::milliseconds kMonitorPeriod{200};

/// Returns the plan of every process here. Else a callback that holds up a CPU holds up what
/// receives messages, and whoever waits for a lock that such a thread has.
inline rclrt::realtime::ThreadPlan middleware_plan() {
  return {{{.scheduling = {.policy = rclrt::realtime::Policy::kFifo, .priority = 85},
            .library = "libfast*"}}};
}

/// Runs one process of the chain, "filter" or "controller", until a /stop is for it. Prints what
/// the step has seen: instances, misses, misses that the engine reported, those of them that the
/// step cannot have missed, and instances that did not count from the sensor's stamp.
int run_process(const std::string& role);

}  // namespace rclrt_rclcpp::test
