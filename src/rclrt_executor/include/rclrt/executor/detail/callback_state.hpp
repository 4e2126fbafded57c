// SPDX-License-Identifier: Apache-2.0
// What the engine keeps of a callback.
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

namespace rclrt::executor {
class CallbackSet;
}  // namespace rclrt::executor

namespace rclrt::executor::detail {

/// The engine's side of a `Callback`, which is its only owner. What a dispatch touches is on the
/// first two cache lines of the callback.
///
/// The configuration of the executor that has claimed the callback writes `sink`, `lane`, `level`,
/// `os_priority`, `ordering_deadline_ns`, `removed` and `kept_name`; the order between the atomic
/// ones is unimportant: an instance on its way runs at the old level.
struct RCLRT_EXECUTOR_EXPORT CallbackState {
  /// Throws std::invalid_argument when there are no credits, or for a negative deadline.
  RCLRT_SETUP CallbackState(Callback& callback, CallbackOptions callback_options);

  /// Returns a snapshot; thread-safe.
  Counters counters() const noexcept RCLRT_NONBLOCKING;

  /// Counts a release and returns its instance; nullptr, and a counted drop, when no credit is
  /// left.
  Instance* make_instance(std::int64_t release_ns,
                          std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING;
  /// Returns what `instance` stands for, and gives its credit back unless `overload` says later.
  /// Called before the message is taken.
  InstanceInfo begin(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Gives the credit back if `begin` has not. Called after user code has ended.
  void end(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Ends an instance that has begun and will not run: a counted drop. Its message is lost.
  void end_without_run(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Gives an instance back that will not run: a counted drop. Its message is announced again to
  /// the next executor.
  void discard(Instance* instance) noexcept RCLRT_NONBLOCKING;
  /// Counts releases that will never be instances, or found nothing.
  void drop(std::uint64_t count) noexcept RCLRT_NONBLOCKING;
  /// Counts a release that finds no credit.
  void refuse(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;

  /// Keeps the callback from being let go of, while a worker or a scheduler has an instance in its
  /// hands, or a wait set may poll it.
  void pin() noexcept RCLRT_NONBLOCKING { pins.fetch_add(1); }
  /// Ends what `pin` began: the thread's last access.
  void unpin() noexcept RCLRT_NONBLOCKING { pins.fetch_sub(1); }

  // The first cache line, with the callback's virtual table.
  Credits credits;
  Group& group;                            // own_group, or the one that options keeps
  std::atomic<ReadySink*> sink = nullptr;  // where a new instance goes: an inbox, or the lane
  std::atomic<int> level;
  std::atomic<int> pins = 0;  // seq_cst: see CallbackSet::remove

  // The second one, as far as own_group.
  // Statistics only: no data is published by them. The release increments and acquire loads of
  // `completed` and `dropped` keep `counters` from showing a completion without its release.
  std::atomic<std::uint64_t> released = 0;
  std::atomic<std::uint64_t> completed = 0;
  const std::int64_t deadline_ns;  // of options, as the next
  const Overload overload;
  std::atomic<bool> removed = false;  // seq_cst, as pins
  Group own_group;

  // The executor's set that has the callback. The one that sets it from nullptr (see
  // CallbackSet::claim) has it until it sets it back, which is its last access.
  std::atomic<const CallbackSet*> owner = nullptr;
  std::atomic<ReadySink*> lane = nullptr;  // where it goes then, and after waiting for its group
  std::atomic<int> os_priority = 0;        // the SCHED_FIFO priority of the level as it is now
  // The relative deadline by which instances are ordered; INT64_MAX where deadlines do not decide.
  // Relaxed: no data is published by it.
  std::atomic<std::int64_t> ordering_deadline_ns = INT64_MAX;
  std::atomic<std::uint64_t> dropped = 0;  // as completed
  std::atomic<std::uint64_t> missed = 0;
  std::atomic<std::uint64_t> unreported_drops = 0;  // misses that no report has mentioned
  const std::string* kept_name = nullptr;           // outlives the callback
  // kKeepLast: the newest release that found no credit. Released and acquired, so that the thread
  // that takes it sees whether the credit it did not find is out again: then it is left to the next
  // instance.
  std::atomic<std::int64_t> newest_ns = INT64_MIN;
  // Instances discarded with their executor: their messages still wait in the middleware.
  WorkCount undelivered;
  const CallbackOptions options;

 private:
  void keep_newest(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING;
};

}  // namespace rclrt::executor::detail
