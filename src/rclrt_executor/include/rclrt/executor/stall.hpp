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

/// A stall: instances are queued, and every thread that could run them sleeps within a callback. If
/// one of these callbacks waits for one of the queued instances (a service call within a callback),
/// it waits for ever. The `wait_set` executor gets no announcements, so it reports a stall also if
/// instances only may be queued.
struct Stall {
  /// Why no thread takes the instances.
  enum class Cause : std::uint8_t {
    kWorkers,  ///< every worker waits
    kGroup,    ///< a member of the same mutually exclusive group waits
  };

  std::string executor;  ///< its name
  Cause cause = Cause::kWorkers;
  /// The threads that sleep: "priority 0", or "the executor" if all callbacks of the executor share
  /// its threads.
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
  /// Receives a stall that has lasted for ten periods in total (ExecutorOptions::stall_period: one
  /// second by default). The same stall is reported again only after it has been absent for ten
  /// times as long as it lasted. The thread that is in `spin`, or that called `report_stalls`,
  /// calls this function. The function must not call `report_stalls`.
  RCLRT_SETUP virtual void stalled(const Stall& stall) noexcept = 0;
};

}  // namespace rclrt::executor
