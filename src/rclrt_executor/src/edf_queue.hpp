// SPDX-License-Identifier: Apache-2.0
// The ready and the started instances under EDF, and the choice of the next one to start.
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

/// The instances of an EdfExecutor in order of absolute deadline, for workers that form a stack:
/// see EdfExecutor.
///
/// Callbacks of one relative deadline share a deadline_class. Within a class, order of release is
/// order of deadline, so inserting an instance takes constant time. To choose an instance, the
/// first instances of all classes are compared.
///
/// * All data except what producers write are accessed with `mutex_` held. It has priority
///   inheritance and is held for a few instructions per deadline_class. Groups' mutexes are taken
///   while it is held.
/// * Only the standby worker may start an instance: the worker right above the highest one that has
///   an instance. It is asleep, or awake and about to take `mutex_`. A thread wakes it if a change
///   gives it work, or makes it necessary that it wakes up earlier.
/// * `submit` takes no lock: it pushes an instance, then reads the gate (the three atomics). A
///   thread that changes the gate first stores it, then reads the pushed instances. With seq_cst at
///   least one of the two sees the other's write. If the last change before the push was too early
///   to see the instance, the producer reads the result of that change, or a part of a later one.
///   The thread of a later change reads the pushed instances after the push, so it sees the
///   instance.
class EdfQueue {
 public:
  /// The relative and absolute deadline of callbacks without a deadline.
  static constexpr std::int64_t kBackground = INT64_MAX - 1;
  /// As many workers as SCHED_FIFO has priorities below a scheduler's.
  static constexpr std::size_t kMaxWorkers = 98;

  /// `outside` is notified as well when no worker sleeps that could take a ready instance.
  explicit EdfQueue(realtime::EventCount& outside);
  /// Discards the instances that are left. No entity may release into the queue any more.
  ~EdfQueue();
  EdfQueue(const EdfQueue&) = delete;
  EdfQueue& operator=(const EdfQueue&) = delete;

  /// The absolute deadline of a release.
  static std::int64_t deadline_ns(std::int64_t release_ns,
                                  std::int64_t relative_ns) noexcept RCLRT_NONBLOCKING;

  // Configuration: one thread at a time.

  /// Returns the part of the queue for instances with this relative deadline. It lives as long as
  /// the queue.
  RCLRT_SETUP detail::ReadySink& deadline_class(std::int64_t relative_ns);
  RCLRT_SETUP std::size_t class_count() const noexcept { return classes_.size(); }
  RCLRT_SETUP void add_timer(std::int64_t relative_ns, TimerCallback* timer);
  RCLRT_SETUP void remove_timer(TimerCallback* timer) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;
  /// Sets the number of workers, which limits the depth of the stack.
  RCLRT_SETUP void set_workers(std::size_t count) noexcept { workers_.store(count); }

  // Workers, by their place in the stack.

  /// Ends the instance that the worker popped before, and sleeps until there is an instance for the
  /// worker to run. Returns that instance; nullptr once `stop` is true.
  Instance* pop(std::size_t worker, const std::atomic<bool>& stop) noexcept RCLRT_WAITS;
  /// Does the same as `pop` without sleeping: returns nullptr if there is no instance. Then sets
  /// the time until which the worker may sleep.
  Instance* try_pop(std::size_t worker, bool may_start,
                    std::int64_t& wake_up_ns) noexcept RCLRT_WAITS;
  /// Pops the next instance for the calling thread, as the lowest worker would, while the executor
  /// has no workers. Instances that became ready after `ready_by_ns` stay. nullptr: there is none.
  Instance* try_pop_on_caller(std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  void end_on_caller() noexcept RCLRT_WAITS;
  std::int64_t next_release_ns() noexcept RCLRT_WAITS;
  /// Wakes all sleeping workers after `stop` was set.
  void wake_all() noexcept RCLRT_NONBLOCKING;

 private:
  class DeadlineClass;

  struct Slot {
    realtime::EventCount wake;
    bool started = false;          // true: the next two are valid; false: `wake_up_ns` is
    std::int64_t deadline_ns = 0;  // absolute
    std::int64_t ceiling_ns = 0;   // relative
    std::int64_t wake_up_ns = kAwake;
  };
  static constexpr std::int64_t kAwake = INT64_MIN;    // it is awake and will check by itself
  static constexpr std::int64_t kNothing = INT64_MAX;  // the gate when nothing has started
  static constexpr std::size_t kNobody = SIZE_MAX;

  void announce(std::int64_t deadline_ns, std::int64_t relative_ns) noexcept RCLRT_NONBLOCKING;
  void resume(DeadlineClass& deadline_class, Instance* instance) noexcept RCLRT_WAITS;
  bool may_preempt(std::int64_t deadline_ns,
                   std::int64_t relative_ns) const noexcept RCLRT_NONBLOCKING;
  void update_gate() noexcept;
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
  std::atomic<std::int64_t> earliest_ns_{kNothing};  // of the started deadlines
  std::atomic<std::int64_t> ceiling_ns_{kNothing};   // the shortest started one
  std::atomic<std::size_t> standby_{0};
  std::atomic<std::size_t> workers_{0};
};

}  // namespace rclrt::executor
