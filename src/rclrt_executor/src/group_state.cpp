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
  const void* nobody = nullptr;
  return owner_.compare_exchange_strong(nobody, executor) || nobody == executor;
}

void GroupState::release(const void* executor) {
  if (owner_.load() != executor) {
    return;
  }
  reserved_ = nullptr;
  state_.fetch_and(~kWaits);
  while (parked_ != nullptr) {
    Instance* const instance = unlink(&parked_, nullptr, parked_);
    state_of(*instance->callback).discard(instance);
  }
  ceiling_.store(0);
  deadline_ceiling_ns_.store(INT64_MAX);
  owner_.store(nullptr);
}

/// Under `mutex_` and with kWaits: says what is so now. `inside` is kInside or 0.
void GroupState::settle(std::uint32_t inside) noexcept {
  // release: a member has left, perhaps, and the next one does not take the mutex.
  state_.store(inside | (parked_ != nullptr || reserved_ != nullptr ? kWaits : 0),
               std::memory_order_release);
}

bool GroupState::enter_or_park(Instance* instance) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (reserved_ == instance) {
    reserved_ = nullptr;
  }
  const bool busy = (state_.fetch_or(kWaits, std::memory_order_acquire) & kInside) != 0;
  if (busy || (reserved_ != nullptr && level_of(instance) <= level_of(reserved_))) {
    park(instance);
    return false;
  }
  settle(kInside);
  return true;
}

Instance* GroupState::leave_to_next() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  Instance* const next = reserve_next();
  settle(0);
  return next;
}

Instance* GroupState::forget(const Instance* instance) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (reserved_ != instance) {
    return nullptr;
  }
  reserved_ = nullptr;
  const std::uint32_t inside = state_.load(std::memory_order_relaxed) & kInside;
  Instance* const next = inside != 0 ? nullptr : reserve_next();
  settle(inside);
  return next;
}

Instance* GroupState::unpark(const Callback& callback) noexcept {
  const std::scoped_lock lock(mutex_);
  for (Instance** first = &parked_; *first != nullptr; first = &(*first)->below) {
    Instance* before = nullptr;
    for (Instance* each = *first; each != nullptr; before = std::exchange(each, each->next)) {
      if (each->callback == &callback) {
        unlink(first, before, each);
        settle(state_.load(std::memory_order_relaxed) & kInside);
        return each;
      }
    }
  }
  return nullptr;
}

void GroupState::park(Instance* instance) noexcept {
  const int level = level_of(instance);  // may change while it is parked: the order does not
  instance->parked_level = level;
  Instance** link = &parked_;
  while (*link != nullptr && (*link)->parked_level > level) {
    link = &(*link)->below;
  }
  Instance* const first = *link;
  instance->next = nullptr;
  if (first == nullptr || first->parked_level < level) {
    instance->last = instance;
    instance->below = std::exchange(*link, instance);
  } else if (first->last->order <= instance->order) {
    first->last = first->last->next = instance;
  } else if (instance->order < first->order) {
    instance->next = std::exchange(*link, instance);
    instance->last = first->last;
    instance->below = first->below;
  } else {  // it has lost its reservation once more: those before it have, too
    Instance* before = first;
    while (before->next->order < instance->order) {
      before = before->next;
    }
    instance->next = std::exchange(before->next, instance);
  }
}

/// Takes `instance` out of the level whose first one `*first` is; `before`: the one before it.
Instance* GroupState::unlink(Instance** first, Instance* before, Instance* instance) noexcept {
  Instance* const rest = instance->next;
  if (before != nullptr) {
    before->next = rest;
    if (rest == nullptr) {
      (*first)->last = before;
    }
  } else if (rest != nullptr) {
    rest->last = instance->last;
    rest->below = instance->below;
    *first = rest;
  } else {
    *first = instance->below;
  }
  return instance;
}

Instance* GroupState::reserve_next() noexcept {
  // Who has the reservation leaves, too, and looks again; but it may wait for others at its level,
  // and nobody more urgent shall wait with it: it loses the reservation then, and asks again.
  if (parked_ == nullptr ||
      (reserved_ != nullptr && parked_->parked_level <= level_of(reserved_))) {
    return nullptr;
  }
  Instance* const next = unlink(&parked_, nullptr, parked_);
  reserved_ = next;
  return next;
}

}  // namespace rclrt::executor::detail
