// SPDX-License-Identifier: Apache-2.0
// The engine's data of a callback.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "rclrt/executor/callback_options.hpp"
#include "rclrt/executor/detail/credits.hpp"
#include "rclrt/executor/detail/ready_sink.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/executor/work_count.hpp"
#include "rclrt/realtime/quiescence_guard.hpp"

namespace rclrt::executor {
class CallbackSet;
}  // namespace rclrt::executor

namespace rclrt::executor::detail {

/// The part of a `Callback` that the executor uses; each callback owns one. To run an instance, the
/// executor accesses only the first two cache lines of the callback.
///
/// The executor that owns the callback writes `sink`, `lane`, `level`, `kernel_priority`,
/// `ordering_deadline_ns`, `removed` and `kept_name` when it is configured. The order among the
/// writes of the atomic members does not matter, because an instance that is already queued runs at
/// the old level.
struct RCLRT_EXECUTOR_EXPORT CallbackState {
  /// Throws std::invalid_argument when there are no credits, or for a negative deadline.
  RCLRT_SETUP CallbackState(Callback& callback, CallbackOptions callback_options);

  /// Returns a snapshot; thread-safe.
  Counters counters() const noexcept RCLRT_NONBLOCKING;

  /// Counts a release and returns an instance for it. If no credit is left, counts a drop and
  /// returns nullptr.
  Instance* make_instance(std::int64_t release_ns,
                          std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING;
  /// Returns the description of `instance`. Gives back its credit, unless `overload` requires that
  /// `end` does so. Called before the message is taken.
  InstanceInfo begin(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Gives the credit back if `begin` has not. Called after user code has ended.
  void end(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Ends an instance that has begun and will not run: a counted drop. Its message is lost.
  void end_without_run(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Gives back an instance that will not run, and counts a drop. The message stays in the
  /// middleware: it is announced again when the callback gets another executor.
  void discard(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Counts as drops the releases that never become instances, or for which no message was found.
  void drop(std::uint64_t count) noexcept RCLRT_NONBLOCKING;
  /// Counts a release that finds no credit.
  void refuse(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;

  /// Keeps the callback alive until `unpin`. A thread pins the callback while it holds an instance
  /// of the callback, or while its wait set may poll the callback.
  void pin() noexcept RCLRT_NONBLOCKING { pins.enter(); }
  /// Ends a `pin`. This is the thread's last access to the callback.
  void unpin() noexcept RCLRT_NONBLOCKING { pins.leave(); }

  // The first cache line, with the callback's virtual table.
  Credits credits;
  Group& group;                            // own_group, or the group in `options`
  std::atomic<ReadySink*> sink = nullptr;  // where a new instance goes: an inbox, or the lane
  std::atomic<int> level;
  realtime::QuiescenceGuard pins;  // only counts: see CallbackSet::await_unpinned

  // The second cache line contains the members from here to own_group. The counters are statistics
  // only: no other data is published by them. They are incremented with release, and `counters`
  // loads `completed` and `dropped` with acquire. So `counters` never shows more instances ended
  // than released.
  std::atomic<std::uint64_t> released = 0;
  std::atomic<std::uint64_t> completed = 0;
  const std::int64_t deadline_ns;  // a copy from `options`, as `overload`
  const Overload overload;
  std::atomic<bool> removed = false;
  Group own_group;

  // The set of callbacks of the executor that has this callback; nullptr: no executor has it. A set
  // claims the callback by changing nullptr to itself (see CallbackSet::claim). Storing nullptr
  // again is the set's last access to the callback.
  std::atomic<const CallbackSet*> owner = nullptr;
  std::atomic<ReadySink*> lane = nullptr;  // where it goes next, and after waiting for its group
  std::atomic<int> kernel_priority = 0;    // the current SCHED_FIFO priority of the level
  // The relative deadline that orders the instances under EDF; INT64_MAX if instances are not
  // ordered by deadline. Relaxed, because no other data is published by it.
  std::atomic<std::int64_t> ordering_deadline_ns = INT64_MAX;
  std::atomic<std::uint64_t> dropped = 0;  // as completed
  std::atomic<std::uint64_t> missed = 0;
  std::atomic<std::uint64_t> unreported_drops = 0;  // misses that no report has mentioned
  const std::string* kept_name = nullptr;           // outlives the callback
  // For Overload::kKeepLast: the time of the newest release that found no credit. Stored with
  // release and loaded with acquire, so a thread that takes the time also sees whether the credit
  // is in use again. If the credit is in use, the thread leaves the release to the next instance.
  std::atomic<std::int64_t> newest_ns = INT64_MIN;
  // Instances discarded with their executor: their messages still wait in the middleware.
  WorkCount undelivered;
  const CallbackOptions options;

 private:
  void keep_newest(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;
};

}  // namespace rclrt::executor::detail
