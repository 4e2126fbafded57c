// SPDX-License-Identifier: Apache-2.0
// The ready instances of a StaticOrderExecutor, and the rest of the running set.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pi_lock.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/static_order_executor.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "release_queue.hpp"

namespace rclrt::executor {

class CallbackSet;
class InstanceRunner;

/// The queue of a StaticOrderExecutor: it has a place for each callback, in the order of the
/// executor, and one thread runs its instances.
///
/// * All data except the pushes of producers are accessed with `mutex_` held. It has priority
///   inheritance, and is held for a few instructions per callback and for the trigger. No group is
///   found busy, because one thread runs the callbacks, and the members of a group are all in one
///   executor.
/// * A member of the current set is pinned until it has run or is given up. The thread that removes
///   its callback gives it up. If its input is being read at that moment, a later call gives it up.
/// * A place belongs to a callback until no instance of that callback is left. After that another
///   callback may get the place.
class StaticOrderQueue {
 public:
  /// A member of the set for the thread to run. Its group has been entered.
  struct Member {
    Instance* instance = nullptr;  ///< nullptr: no member is left
    InstanceInfo info;             ///< valid if `was_read`
    bool was_read = false;         ///< the instance has begun, and its input is taken
  };

  /// `outside` is notified as well when the thread does not sleep.
  StaticOrderQueue(realtime::EventCount& outside,
                   std::shared_ptr<const StaticOrderTrigger> trigger);
  /// Discards the instances that are left. No entity may release into the queue any more.
  ~StaticOrderQueue();
  StaticOrderQueue(const StaticOrderQueue&) = delete;
  StaticOrderQueue& operator=(const StaticOrderQueue&) = delete;

  // With the configuration locked:

  /// Gives the callback its place in the order. When called first for a callback, the place is
  /// after all others of its level. If the callback is a timer, the queue also releases it from now
  /// on.
  RCLRT_SETUP void add(Callback& callback, const CallbackSet& callbacks);
  /// Releases no more instances by time; a callback that leaves the executor loses its place.
  RCLRT_SETUP void remove(Callback& callback) noexcept;
  /// Moves every instance of `callback` to the list `taken`; gives up instances that were read.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;
  /// Returns the next member of a set that has begun; if there is none, the first instance that
  /// became ready by `ready_by_ns`. Called while no thread of the executor runs.
  Instance* take_on_caller(std::int64_t ready_by_ns, std::int64_t& next_release_ns) noexcept;

  // The thread that runs callbacks:

  /// Sleeps until there is a set, or the rest of one. Returns false once `stop` is true.
  bool await_set(const std::atomic<bool>& stop) noexcept RCLRT_WAITS;
  /// Begins every member of the set, and takes its input.
  void read_set(InstanceRunner& runner) noexcept RCLRT_WAITS;
  /// Takes the next member of the set.
  Member take() noexcept RCLRT_WAITS;

  // Any thread:

  /// Returns whether no callback runs, and the trigger holds back the waiting instances.
  bool holds_back() noexcept RCLRT_WAITS;
  /// Wakes the thread after `stop` was set.
  void wake() noexcept RCLRT_NONBLOCKING;

 private:
  struct Place;

  Place& place_of(Callback& callback, const CallbackSet& callbacks);
  Place* left_place(const CallbackSet& callbacks);
  void make_room();
  void put_in_order(Place& place) noexcept;
  void take_out_of_order(Place& place) noexcept;
  void collect() noexcept;
  bool is_triggered(std::int64_t ready_by_ns) noexcept;
  bool form_set(std::int64_t ready_by_ns) noexcept;
  Place* next_member() noexcept;
  Place* next_unread() noexcept;
  Member take_member() noexcept;
  std::int64_t next_release_ns() noexcept;
  bool has_pushed() const noexcept;

  realtime::EventCount& outside_;
  realtime::EventCount wakeup_;
  const std::shared_ptr<const StaticOrderTrigger> trigger_;
  PiLock mutex_;
  std::vector<std::unique_ptr<Place>> places_;  // all, also those of removed callbacks
  std::vector<Place*> order_;                   // those of the executor's callbacks
  std::vector<CallbackReadiness> readiness_;    // in the order of `order_`
  // The next two are touched with the configuration locked, without `mutex_`.
  std::unordered_map<const Callback*, Place*> place_by_callback_;  // compared only: see Place
  std::vector<Place*> left_;  // of callbacks that have left or are leaving
  std::uint64_t next_number_ = 0;
  std::size_t next_ = 0;         // no place of order_ before it is in the set
  std::size_t next_unread_ = 0;  // no place of order_ before it is in the set and unread
  bool runs_ = false;            // the thread may be in a callback
};

}  // namespace rclrt::executor
