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

/// The engine's side of a `Callback`, which is its only owner. A dispatch touches only the first
/// two cache lines of the callback.
///
/// The configuration of the executor that has claimed the callback writes `sink`, `lane`, `level`,
/// `kernel_priority`, `ordering_deadline_ns`, `removed` and `kept_name`; the order between the
/// atomic ones does not matter, because an instance that is already queued runs at the old level.
struct RCLRT_EXECUTOR_EXPORT CallbackState {
  /// Throws std::invalid_argument when there are no credits, or for a negative deadline.
  RCLRT_SETUP CallbackState(Callback& callback, CallbackOptions callback_options);

  /// Returns a snapshot; thread-safe.
  Counters counters() const noexcept RCLRT_NONBLOCKING;

  /// Counts a release and returns its instance; nullptr, and a counted drop, when no credit is
  /// left.
  Instance* make_instance(std::int64_t release_ns,
                          std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING;
  /// Returns the description of `instance`, and gives its credit back unless `overload` requires
  /// that to happen in `end`. Called before the message is taken.
  InstanceInfo begin(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Gives the credit back if `begin` has not. Called after user code has ended.
  void end(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Ends an instance that has begun and will not run: a counted drop. Its message is lost.
  void end_without_run(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Gives back an instance that will not run, as a counted drop. Its message is announced again to
  /// the next executor.
  void discard(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Counts as drops the releases that never become instances, or for which no message was found.
  void drop(std::uint64_t count) noexcept RCLRT_NONBLOCKING;
  /// Counts a release that finds no credit.
  void refuse(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;

  /// Keeps the callback alive while a worker or a scheduler holds an instance of it, or a wait set
  /// may poll it.
  void pin() noexcept RCLRT_NONBLOCKING { pins.enter(); }
  /// Ends a `pin`. This is the thread's last access to the callback.
  void unpin() noexcept RCLRT_NONBLOCKING { pins.leave(); }

  // The first cache line, with the callback's virtual table.
  Credits credits;
  Group& group;                            // own_group, or the group in `options`
  std::atomic<ReadySink*> sink = nullptr;  // where a new instance goes: an inbox, or the lane
  std::atomic<int> level;
  realtime::QuiescenceGuard pins;  // only counts: see CallbackSet::await_unpinned

  // The second cache line, up to and including own_group.
  // Statistics only: no data is published by them. The release increments and acquire loads of
  // `completed` and `dropped` keep `counters` from showing a completion without its release.
  std::atomic<std::uint64_t> released = 0;
  std::atomic<std::uint64_t> completed = 0;
  const std::int64_t deadline_ns;  // a copy from `options`, as `overload`
  const Overload overload;
  std::atomic<bool> removed = false;
  Group own_group;

  // The executor's set that has the callback. The set that changes it from nullptr to itself (see
  // CallbackSet::claim) has the callback until it stores nullptr again, which is its last access.
  std::atomic<const CallbackSet*> owner = nullptr;
  std::atomic<ReadySink*> lane = nullptr;  // where it goes next, and after waiting for its group
  std::atomic<int> kernel_priority = 0;    // the current SCHED_FIFO priority of the level
  // The relative deadline by which instances are ordered; INT64_MAX where instances are not ordered
  // by deadline. Relaxed: no data is published by it.
  std::atomic<std::int64_t> ordering_deadline_ns = INT64_MAX;
  std::atomic<std::uint64_t> dropped = 0;  // as completed
  std::atomic<std::uint64_t> missed = 0;
  std::atomic<std::uint64_t> unreported_drops = 0;  // misses that no report has mentioned
  const std::string* kept_name = nullptr;           // outlives the callback
  // kKeepLast: the newest release that found no credit. Stored with release and loaded with
  // acquire. So the thread that takes it sees whether the credit is in use again; if so, it leaves
  // the release to the next instance.
  std::atomic<std::int64_t> newest_ns = INT64_MIN;
  // Instances discarded with their executor: their messages still wait in the middleware.
  WorkCount undelivered;
  const CallbackOptions options;

 private:
  void keep_newest(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;
};

}  // namespace rclrt::executor::detail
