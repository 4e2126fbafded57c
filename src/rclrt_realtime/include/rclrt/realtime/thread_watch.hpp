// SPDX-License-Identifier: Apache-2.0
// Keeps the threads of a process scheduled as planned while threads start and end.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt::realtime {

/// The options of a ThreadWatch.
struct ThreadWatchOptions {
  ThreadPlan plan{};
  SaturatingMilliseconds period =
      std::chrono::milliseconds(500);  ///< between two checks; at least 1 ms
  /// Receives a report of the threads that are new or have changed since the last check; its
  /// `unused_rules` is empty. The watch calls it from its thread and, once, from the constructor.
  /// It must not throw and must not call the watch.
  std::function<void(const ThreadPlanReport& news)> on_news{};
};

/// Applies a plan to the threads of this process: those that exist now, and those that appear
/// later. Until the next check, a new thread has the scheduling of its creator. If a thread's
/// scheduling was changed, or its new name matches another rule, the plan is applied to it again. A
/// thread that ends before the next check is never seen.
///
/// A SCHED_OTHER thread "thread_watch" does the checks: they are late while real-time threads
/// occupy every CPU.
class RCLRT_REALTIME_EXPORT ThreadWatch {
 public:
  /// Starts the watch, and returns after the first check. Throws std::invalid_argument if the
  /// period is below 1 ms, and std::system_error if the watch's thread cannot be started.
  RCLRT_SETUP explicit ThreadWatch(ThreadWatchOptions options);
  ~ThreadWatch();
  ThreadWatch(const ThreadWatch&) = delete;
  ThreadWatch& operator=(const ThreadWatch&) = delete;

  /// Waits until a check that began after the call has ended. Thread-safe.
  RCLRT_SETUP void check();

  /// Returns the result of the last check. Thread-safe.
  RCLRT_SETUP ThreadPlanReport report() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rclrt::realtime
