// SPDX-License-Identifier: Apache-2.0
// Instances that wait for threads which wait themselves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Queued instances for which every thread that could run them sleeps within a callback. Under
/// `wait_set`, which gets no announcements, the instances may be queued. If one of these callbacks
/// waits for one of the instances (a service call within a callback), it waits for ever.
struct Stall {
  /// Why no thread takes the instances.
  enum class Cause : std::uint8_t {
    kWorkers,  ///< every worker waits
    kGroup,    ///< a member of the same mutually exclusive group waits
  };

  std::string executor;  ///< its name
  Cause cause = Cause::kWorkers;
  /// The callbacks that the threads run: "priority 0"; "the executor" if all its callbacks share
  /// them.
  std::string workers;
  std::vector<std::string> waiting;  ///< callbacks that sleep on their threads
  std::vector<std::string> queued;   ///< callbacks with queued instances
  std::size_t instances = 0;         ///< number of queued instances
  std::chrono::nanoseconds time{0};  ///< duration within the last seconds
  std::string advice;                ///< a remedy
};

/// Returns a readable description of a stall, in one sentence: "priority 0: every worker waits, 2
/// instances queued".
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::string summary(const Stall& stall);
/// Returns the description with the names of the callbacks and the advice.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::string explanation(const Stall& stall);

/// Receives stalls; see ExecutorOptions::on_stall.
class RCLRT_EXECUTOR_EXPORT StallHandler {
 public:
  virtual ~StallHandler() = default;
  /// Takes a stall that has lasted for ten periods in total (ExecutorOptions::stall_period, one
  /// second by default). Takes it again only after it has been absent for ten times as long as it
  /// lasted. Called by the thread that spins or that calls `report_stalls`. Must not ask the
  /// executor for stalls.
  RCLRT_SETUP virtual void stalled(const Stall& stall) noexcept = 0;
};

}  // namespace rclrt::executor
