// SPDX-License-Identifier: Apache-2.0
// A chain over three processes with injected misses, and the receiver of the reports on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "middleware.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt_robot::test {

/// The kind of an injection, as the number in a message on /inject.
enum Injection : std::uint32_t { kNone, kFilterBlocked, kFilterSlow, kControllerBlocked };
inline constexpr std::uint32_t kInjections = 4;

/// The process that is to end, as the number in a message on /stop. They end one after the other:
/// Fast DDS may never end in a process that ends together with others (Fast-DDS#6513).
enum Process : std::uint32_t { kFilter, kController };

/// The topic on which each miss is reported by itself.
inline constexpr const char* kMisses = "/misses";

inline constexpr std::chrono::milliseconds kSensorPeriod{20};
inline constexpr std::chrono::milliseconds kHeldUp{70};
inline constexpr std::chrono::milliseconds kMonitorPeriod{200};

/// Returns the thread plan of every process here. Without it, a callback that occupies a CPU delays
/// the threads that receive messages, and all threads that wait for a lock of such a thread.
inline rclrt::realtime::ThreadPlan middleware_plan() {
  return {{{.scheduling = {.policy = rclrt::realtime::Policy::kFifo, .priority = 85},
            .library = rclrt_rclcpp::test::middleware_threads().library + "*"}}};
}

/// Runs one process of the chain, "filter" or "controller", until a /stop is for it. Prints the
/// observations of the step: instances, misses, misses that the engine reported, those of them that
/// the step cannot have missed, and instances that did not count from the sensor's stamp.
int run_process(const std::string& role);

}  // namespace rclrt_robot::test
