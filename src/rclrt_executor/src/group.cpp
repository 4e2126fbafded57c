// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/group.hpp"

#include <mutex>
#include <utility>

#include "rclrt/executor/callback.hpp"

namespace rclrt::executor {

namespace {
int level_of(const Instance* instance) noexcept { return instance->callback->level(); }
}  // namespace

bool Group::claim(const void* executor) {
  const void* nobody = nullptr;
  return owner_.compare_exchange_strong(nobody, executor) || nobody == executor;
}

void Group::release(const void* executor) {
  if (owner_.load() != executor) {
    return;
  }
  reserved_ = nullptr;
  while (parked_ != nullptr) {
    Instance* const instance = std::exchange(parked_, parked_->next);
    instance->callback->discard(instance);
  }
  ceiling_.store(0);
  deadline_ceiling_ns_.store(INT64_MAX);
  owner_.store(nullptr);
}

bool Group::enter(Instance* instance) noexcept RCLRT_WAITS {
  if (type_ == GroupType::kReentrant) {
    return true;
  }
  const std::scoped_lock lock(mutex_);
  if (reserved_ == instance) {
    reserved_ = nullptr;
  }
  if (busy_ || (reserved_ != nullptr && level_of(instance) <= level_of(reserved_))) {
    park(instance);
    return false;
  }
  busy_ = true;
  return true;
}

bool Group::try_enter() noexcept RCLRT_WAITS {
  if (type_ == GroupType::kReentrant) {
    return true;
  }
  const std::scoped_lock lock(mutex_);
  return !std::exchange(busy_, true);
}

bool Group::busy() noexcept RCLRT_WAITS {
  if (type_ == GroupType::kReentrant) {
    return false;
  }
  const std::scoped_lock lock(mutex_);
  return busy_;
}

Instance* Group::leave() noexcept RCLRT_WAITS {
  if (type_ == GroupType::kReentrant) {
    return nullptr;
  }
  const std::scoped_lock lock(mutex_);
  busy_ = false;
  return reserve_next();
}

Instance* Group::forget(const Instance* instance) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (reserved_ != instance) {
    return nullptr;
  }
  reserved_ = nullptr;
  return busy_ ? nullptr : reserve_next();
}

Instance* Group::unpark(const Callback& callback) noexcept {
  const std::scoped_lock lock(mutex_);
  Instance** link = &parked_;
  while (*link != nullptr && (*link)->callback != &callback) {
    link = &(*link)->next;
  }
  Instance* const found = *link;
  if (found != nullptr) {
    *link = found->next;
  }
  return found;
}

void Group::park(Instance* instance) noexcept {
  Instance** link = &parked_;
  while (*link != nullptr &&
         (level_of(*link) > level_of(instance) ||
          (level_of(*link) == level_of(instance) && (*link)->order < instance->order))) {
    link = &(*link)->next;
  }
  instance->next = *link;
  *link = instance;
}

Instance* Group::reserve_next() noexcept {
  // Who has the reservation leaves, too, and looks again; but it may wait for others at its level,
  // and nobody more urgent shall wait with it: it loses the reservation then, and asks again.
  if (parked_ == nullptr || (reserved_ != nullptr && level_of(parked_) <= level_of(reserved_))) {
    return nullptr;
  }
  Instance* const next = std::exchange(parked_, parked_->next);
  reserved_ = next;
  return next;
}

}  // namespace rclrt::executor
