// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/group_state.hpp"

#include <mutex>
#include <utility>

#include "access.hpp"

namespace rclrt::executor::detail {

namespace {
int level_of(const Instance* instance) noexcept { return instance->callback->level(); }
}  // namespace

bool GroupState::claim(const void* executor) {
  const void* owner = nullptr;
  return owner_.compare_exchange_strong(owner, executor) || owner == executor;
}

void GroupState::release(const void* executor) {
  if (owner_.load() != executor) {
    return;
  }
  reserved_ = nullptr;
  state_.fetch_and(~kWaits);
  while (Instance* const instance = parked_.first()) {
    parked_.remove_first(instance);
    state_of(*instance->callback).discard(instance);
  }
  ceiling_.store(0);
  deadline_ceiling_ns_.store(INT64_MAX);
  owner_.store(nullptr);
}

/// Stores the current state. Called under `mutex_` and with kWaits set. `inside` is kInside or 0.
void GroupState::update_state(std::uint32_t inside) noexcept {
  // release; PAIRS WITH: try_enter(). A member may have left, and the next member to enter does not
  // take the mutex.
  state_.store(inside | (!parked_.empty() || reserved_ != nullptr ? kWaits : 0),
               std::memory_order_release);
}

bool GroupState::enter_or_park(Instance* instance) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (reserved_ == instance) {
    reserved_ = nullptr;
  }
  // acquire; PAIRS WITH: leave(): if the group is free, the last member's writes are visible.
  const bool busy = (state_.fetch_or(kWaits, std::memory_order_acquire) & kInside) != 0;
  if (busy || (reserved_ != nullptr && level_of(instance) <= level_of(reserved_))) {
    parked_.insert(instance, level_of(instance));
    return false;
  }
  update_state(kInside);
  return true;
}

Instance* GroupState::leave_to_next() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  Instance* const next = reserve_next();
  update_state(0);
  return next;
}

Instance* GroupState::forget(const Instance* instance) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (reserved_ != instance) {
    return nullptr;
  }
  reserved_ = nullptr;
  // relaxed: with kWaits, the state changes only under the mutex
  const std::uint32_t inside = state_.load(std::memory_order_relaxed) & kInside;
  Instance* const next = inside != 0 ? nullptr : reserve_next();
  update_state(inside);
  return next;
}

Instance* GroupState::unpark(const Callback& callback) noexcept {
  const std::scoped_lock lock(mutex_);
  Instance* const instance = parked_.remove_one(callback);
  if (instance != nullptr) {
    update_state(state_.load(std::memory_order_relaxed) & kInside);  // relaxed: as in forget()
  }
  return instance;
}

Instance* GroupState::reserve_next() noexcept {
  // An instance with the reservation will call `leave`, too, and that call looks for parked
  // instances. But until it has entered, it may wait for others at its level, and a more urgent
  // parked instance must not wait with it. So a more urgent instance takes over the reservation,
  // and the old one must enter again.
  Instance* const next = parked_.first();
  if (next == nullptr || (reserved_ != nullptr && next->queued_level <= level_of(reserved_))) {
    return nullptr;
  }
  parked_.remove_first(next);
  reserved_ = next;
  return next;
}

}  // namespace rclrt::executor::detail
