// SPDX-License-Identifier: Apache-2.0
// Which member of a group is inside, and which instances wait for it.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/executor/detail/instance.hpp"
#include "rclrt/executor/detail/level_list.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/group_type.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor::detail {

/// The part of a `Group` that the executor uses: which member runs, and which instances wait.
///
/// A worker runs a member at the priority of the group's most urgent member (immediate ceiling). It
/// takes that priority before it asks to enter the group, so on one CPU the group is never found
/// busy. On several CPUs an instance that finds the group busy is parked, and its worker takes
/// other work. The member that leaves picks the most urgent parked instance, which goes back to the
/// front of its lane. The group is then reserved for this instance: until it has entered, only more
/// urgent members may enter before it. So on several CPUs, too, a callback is blocked by at most
/// one less urgent member, once.
///
/// Invariant, under `mutex_`: if an instance is parked, then a member is inside, or the instance
/// with the reservation (`reserved_`) waits in a lane. In both cases a call of `leave` will follow,
/// which looks for parked instances. `mutex_` has priority inheritance and is held for a few
/// instructions.
///
/// `state_` has the bit kWaits if any instance is parked or reserved. Without the bit, entering and
/// leaving are one compare-and-swap each. With the bit, `state_` changes only under `mutex_`. The
/// bit itself is set and cleared only under `mutex_`. A thread that parks an instance sets kWaits
/// first. So a member that was inside at that time either has left before, or looks for parked
/// instances when it leaves.
class RCLRT_EXECUTOR_EXPORT GroupState {
 public:
  /// Belongs to no executor yet.
  RCLRT_SETUP explicit GroupState(GroupType type) : type_(type) {}

  GroupType type() const noexcept RCLRT_NONBLOCKING { return type_; }

  /// Claims the group, and so all of its members, for `executor`. Returns false if another executor
  /// has claimed the group already.
  RCLRT_SETUP bool claim(const void* executor);
  /// Ends the claim of `executor`: resets the ceilings and discards the parked instances. Does
  /// nothing if `executor` has not claimed the group. No member may be running.
  RCLRT_SETUP void release(const void* executor);

  /// Sets the ceiling to the SCHED_FIFO priority of the most urgent member; 0: no real-time
  /// scheduling. Members that are running keep the ceiling with which they started.
  RCLRT_SETUP void set_ceiling(int kernel_priority) {
    ceiling_.store(type_ == GroupType::kMutuallyExclusive ? kernel_priority : 0);
  }
  /// Returns the SCHED_FIFO priority at which members run. Returns 0 if members run at their own
  /// priority: without real-time scheduling, or in a reentrant group.
  int ceiling() const noexcept RCLRT_NONBLOCKING { return ceiling_.load(); }

  /// Sets the shortest relative deadline among the members, which is their ceiling under `edf`.
  RCLRT_SETUP void set_deadline_ceiling(std::int64_t relative_ns) {
    deadline_ceiling_ns_.store(type_ == GroupType::kMutuallyExclusive ? relative_ns : INT64_MAX);
  }
  /// Returns the shortest relative deadline among the members. Returns INT64_MAX if members do not
  /// exclude each other or are not ordered by deadline.
  std::int64_t deadline_ceiling_ns() const noexcept RCLRT_NONBLOCKING {
    return deadline_ceiling_ns_.load();
  }

  /// Returns true if `instance` may run now; the caller must call `leave` afterwards. Returns false
  /// if `instance` must wait: the group then has parked it and owns it.
  bool enter(Instance* instance) noexcept RCLRT_WAITS {
    return try_enter() || enter_or_park(instance);
  }
  /// Enters without an instance that could be parked: for executors that poll.
  bool try_enter() noexcept RCLRT_NONBLOCKING {
    std::uint32_t free = 0;
    // acquire; PAIRS WITH: the release in `leave`. The next member sees all writes of the last one.
    return type_ == GroupType::kReentrant ||
           state_.compare_exchange_strong(free, kInside, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  /// Returns whether `try_enter` would fail now.
  bool busy() const noexcept RCLRT_NONBLOCKING {
    return state_.load(std::memory_order_relaxed) != 0;
  }
  /// Leaves the group after `enter` or `try_enter`. Returns the parked instance that its lane must
  /// `resume` now; nullptr: there is none.
  Instance* leave() noexcept RCLRT_WAITS {
    std::uint32_t inside = kInside;
    // release; PAIRS WITH: try_enter() and enter_or_park(). If the exchange fails, relaxed is
    // enough, because leave_to_next() then decides under the mutex.
    return type_ == GroupType::kReentrant ||
                   state_.compare_exchange_strong(inside, 0, std::memory_order_release,
                                                  std::memory_order_relaxed)
               ? nullptr
               : leave_to_next();
  }
  /// Gives up the reservation of `instance`, which `leave` returned and which will never enter.
  /// Returns the next instance to `resume`, as `leave` does.
  Instance* forget(const Instance* instance) noexcept RCLRT_WAITS;
  /// Removes and returns a parked instance of `callback`; nullptr when there is none.
  RCLRT_SETUP Instance* unpark(const Callback& callback) noexcept;

 private:
  static constexpr std::uint32_t kInside = 1;  // a member
  static constexpr std::uint32_t kWaits = 2;

  bool enter_or_park(Instance* instance) noexcept RCLRT_WAITS;
  Instance* leave_to_next() noexcept RCLRT_WAITS;
  Instance* reserve_next() noexcept;
  void update_state(std::uint32_t inside) noexcept;

  std::atomic<std::uint32_t> state_{0};
  const GroupType type_;
  // Only the configuration changes the two ceilings.
  std::atomic<int> ceiling_{0};
  std::atomic<std::int64_t> deadline_ceiling_ns_{INT64_MAX};
  std::atomic<const void*> owner_{nullptr};  // the executor that may change them

  realtime::PiMutex mutex_;  // guards the following
  const Instance* reserved_ = nullptr;
  // Many instances are parked one by one, each with the lane's lock held.
  LevelList parked_;
};

}  // namespace rclrt::executor::detail
