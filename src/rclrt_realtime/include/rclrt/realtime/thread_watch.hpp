// SPDX-License-Identifier: Apache-2.0
// Keeps the threads of a process as planned while they come and go.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt::realtime {

/// What is watched.
struct ThreadWatchOptions {
  ThreadPlan plan{};
  SaturatingMilliseconds period =
      std::chrono::milliseconds(500);  ///< between two looks; at least 1 ms
  /// Receives the threads that are new, or are otherwise than at the last look; `unused_rules` is
  /// empty. Called from the watch's thread, and from the constructor; it must not throw, and not
  /// call the watch.
  std::function<void(const ThreadPlanReport& news)> on_news{};
};

/// Gives the threads of this process what a plan states, those that exist now and those that appear
/// later, which until then have what their creator had. A thread that was changed, or has got a
/// name that another rule is for, gets what the plan states again. A thread that ends before the
/// next look is never seen.
///
/// Looks from a SCHED_OTHER thread "thread_watch": while real-time threads take every CPU it looks
/// later.
class RCLRT_REALTIME_EXPORT ThreadWatch {
 public:
  /// Returns after the first look. Throws std::invalid_argument for a period below 1 ms, and
  /// std::system_error if its thread cannot be started.
  RCLRT_SETUP explicit ThreadWatch(ThreadWatchOptions options);
  ~ThreadWatch();
  ThreadWatch(const ThreadWatch&) = delete;
  ThreadWatch& operator=(const ThreadWatch&) = delete;

  /// Waits for a look that begins after the call. Thread-safe.
  RCLRT_SETUP void look();

  /// Returns what the last look found. Thread-safe.
  RCLRT_SETUP ThreadPlanReport report() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace rclrt::realtime
