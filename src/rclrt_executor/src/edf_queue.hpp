// SPDX-License-Identifier: Apache-2.0
// What is ready and what has started under EDF, and who may start next.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pi_lock.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "release_queue.hpp"

namespace rclrt::executor {

/// Instances in order of absolute deadline, for workers that form a stack: see EdfExecutor.
///
/// Callbacks of one relative deadline share a deadline_class: there, order of release is order of
/// deadline, so putting an instance in its place costs the same however many wait. Choosing looks
/// at the first of each deadline_class.
///
/// * All but what the producers write is touched with `mutex_` held. It has priority inheritance
///   and is held for a few instructions per deadline_class. Groups' mutexes are taken inside it.
/// * Only the standby may start an instance: the worker right above the highest that has one. It is
///   asleep, or awake and about to take `mutex_`. Who changes the state so that the standby has
///   something to do, or to wake up earlier for, wakes it.
/// * `submit` takes no lock: it pushes, then reads the gate (the three atomics). Who changes the
///   gate writes it, then looks at what was pushed. With seq_cst one of the two sees the other: if
///   the last change before the push looked too early to see it, the producer reads that change,
///   or a part of a later one, whose maker looks after the push.
class EdfQueue {
 public:
  /// The relative deadline of what has none; also its absolute deadline.
  static constexpr std::int64_t kBackground = INT64_MAX - 1;
  /// As many workers as SCHED_FIFO has priorities below a scheduler's.
  static constexpr std::size_t kMaxWorkers = 98;

  /// `outside` is rung as well when no worker sleeps who could take what became ready.
  explicit EdfQueue(realtime::EventCount& outside);
  /// Discards what is left. No entity may release into it any more.
  ~EdfQueue();
  EdfQueue(const EdfQueue&) = delete;
  EdfQueue& operator=(const EdfQueue&) = delete;

  /// The absolute deadline of a release.
  static std::int64_t deadline_ns(std::int64_t release_ns,
                                  std::int64_t relative_ns) noexcept RCLRT_NONBLOCKING;

  // Configuration: one thread at a time.

  /// Where instances with this relative deadline go. Stays until the queue ends.
  RCLRT_SETUP detail::ReadySink& deadline_class(std::int64_t relative_ns);
  RCLRT_SETUP std::size_t class_count() const noexcept { return classes_.size(); }
  RCLRT_SETUP void add_timer(std::int64_t relative_ns, TimerCallback* timer);
  RCLRT_SETUP void remove_timer(TimerCallback* timer) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;
  /// How many workers there are: nothing nests deeper.
  RCLRT_SETUP void set_workers(std::size_t count) noexcept { workers_.store(count); }

  // Workers, by their place in the stack.

  /// Ends the instance that the worker popped before; sleeps until there is one for it to run.
  /// nullptr once `stop` is true.
  Instance* pop(std::size_t worker, const std::atomic<bool>& stop) noexcept RCLRT_WAITS;
  /// The same without sleeping: nullptr when there is none. Says until when it may sleep.
  Instance* try_pop(std::size_t worker, bool may_start,
                    std::int64_t& wake_up_ns) noexcept RCLRT_WAITS;
  /// While there are no workers: as the lowest of them; what became ready later stays.
  Instance* try_pop_on_caller(std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  void end_on_caller() noexcept RCLRT_WAITS;
  std::int64_t next_release_ns() noexcept RCLRT_WAITS;
  /// After `stop` was set: lets all sleeping workers see it.
  void wake_all() noexcept RCLRT_NONBLOCKING;

 private:
  class DeadlineClass;

  struct Slot {
    realtime::EventCount wake;
    bool started = false;  // the rest is meaningful while true; but for `wake_up_ns`, while false
    std::int64_t deadline_ns = 0;  // absolute
    std::int64_t ceiling_ns = 0;   // relative
    std::int64_t wake_up_ns = kAwake;
  };
  static constexpr std::int64_t kAwake = INT64_MIN;    // it will look by itself
  static constexpr std::int64_t kNothing = INT64_MAX;  // the gate when nothing has started
  static constexpr std::size_t kNobody = SIZE_MAX;

  void announce(std::int64_t deadline_ns, std::int64_t relative_ns) noexcept RCLRT_NONBLOCKING;
  void resume(DeadlineClass& deadline_class, Instance* instance) noexcept RCLRT_WAITS;
  bool may_preempt(std::int64_t deadline_ns,
                   std::int64_t relative_ns) const noexcept RCLRT_NONBLOCKING;
  void settle_gate() noexcept;
  void collect() noexcept;
  DeadlineClass* find_class(std::int64_t relative_ns) const noexcept;
  DeadlineClass* best(std::int64_t ready_by_ns = INT64_MAX) const noexcept;
  Instance* start_best(Slot& slot, std::int64_t ready_by_ns = INT64_MAX) noexcept;
  std::int64_t next_preempting_release() const noexcept;
  std::size_t whom_to_wake(std::size_t except) const noexcept;
  void wake(std::size_t worker) noexcept RCLRT_NONBLOCKING;

  realtime::EventCount& outside_;
  PiLock mutex_;
  std::vector<std::unique_ptr<DeadlineClass>> classes_;  // ascending
  std::array<Slot, kMaxWorkers> slots_;

  // The gate, written with `mutex_` held.
  std::atomic<std::int64_t> earliest_ns_{kNothing};  // of the deadlines of what has started
  std::atomic<std::int64_t> ceiling_ns_{kNothing};   // the shortest of theirs
  std::atomic<std::size_t> standby_{0};
  std::atomic<std::size_t> workers_{0};
};

}  // namespace rclrt::executor
