// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/instance_inbox.hpp"

#include <algorithm>
#include <new>

namespace rclrt::recorder {

void InstanceInbox::add(std::span<const LoggedInstance> instances) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::size_t room = is_closed_ ? 0 : most_ - instances_.size();
  const auto now = instances.first(std::min(room, instances.size()));
  try {
    instances_.insert(instances_.end(), now.begin(), now.end());
    dropped_ += instances.size() - now.size();
  } catch (const std::bad_alloc&) {
    dropped_ += instances.size();
  }
}

void InstanceInbox::open() {
  const std::scoped_lock lock(mutex_);
  is_open_ = true;
}

bool InstanceInbox::is_open() const {
  const std::scoped_lock lock(mutex_);
  return is_open_;
}

bool InstanceInbox::take(std::vector<LoggedInstance>& batch) {
  batch.clear();
  const std::scoped_lock lock(mutex_);
  if (is_open_) {
    batch.swap(instances_);
  }
  return is_open_;
}

void InstanceInbox::drop(std::uint64_t count) noexcept {
  const std::scoped_lock lock(mutex_);
  dropped_ += count;
}

void InstanceInbox::close() noexcept {
  std::vector<LoggedInstance> dropped;  // its memory returns when the lock is free again
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  dropped_ += instances_.size();
  dropped.swap(instances_);
}

std::uint64_t InstanceInbox::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

}  // namespace rclrt::recorder
