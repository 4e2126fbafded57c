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

/// Instances that are queued, or may be (under `wait_set`, which is not told of them), although
/// every thread that could run them sleeps within a callback. If one of these callbacks waits for
/// one of the instances (a service call within a callback), it waits for ever.
struct Stall {
  /// Why no thread takes the instances.
  enum class Cause : std::uint8_t {
    kWorkers,  ///< every worker waits
    kGroup,    ///< a member of the same mutually exclusive group waits
  };

  std::string executor;  ///< its name
  Cause cause = Cause::kWorkers;
  /// What the threads run: "priority 0"; "the executor" where all its callbacks share them.
  std::string workers;
  std::vector<std::string> waiting;  ///< the callbacks whose threads sleep
  std::vector<std::string> queued;   ///< the callbacks with instances that are queued
  std::size_t instances = 0;         ///< how many instances are queued
  std::chrono::nanoseconds time{0};  ///< for how long in the last seconds
  std::string advice;                ///< what helps
};

/// Returns a stall for people, in one sentence: "priority 0: every worker waits, 2 instances
/// queued".
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::string summary(const Stall& stall);
/// Returns the same with the names of the callbacks, and what helps.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::string explanation(const Stall& stall);

/// Receives stalls; see ExecutorOptions::on_stall.
class RCLRT_EXECUTOR_EXPORT StallHandler {
 public:
  virtual ~StallHandler() = default;
  /// Takes a stall that has lasted for ten periods in all (ExecutorOptions::stall_period, one
  /// second by default), and takes it again after it has gone for ten times as long. The caller is
  /// the thread that spins or that looks for stalls. It may not ask the executor for stalls.
  RCLRT_SETUP virtual void stalled(const Stall& stall) noexcept = 0;
};

}  // namespace rclrt::executor
