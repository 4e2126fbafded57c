// SPDX-License-Identifier: Apache-2.0
// Callbacks that exclude each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>

#include "rclrt/realtime/mutex.hpp"

namespace rclrt::executor {

enum class GroupType { kMutuallyExclusive, kReentrant };

/// At most one member of a mutually exclusive group runs at a time; members of a reentrant group
/// are not limited, not even against themselves.
///
/// With real-time priorities a member runs at the most urgent member's priority (immediate
/// ceiling), so on one CPU a callback is blocked by at most one less urgent member, once, before
/// it starts. Members of one level need no ceiling, and without real-time permission there is no
/// priority to raise: then a priority-inheritance mutex excludes.
class Group {
 public:
  RCLRT_SETUP explicit Group(GroupType type = GroupType::kMutuallyExclusive) : type_(type) {}

  GroupType type() const noexcept RCLRT_NONBLOCKING { return type_; }

  /// The members of a group belong to one executor at a time: false when another one has it.
  RCLRT_SETUP bool claim(const void* executor) {
    const void* nobody = nullptr;
    return owner_.compare_exchange_strong(nobody, executor) || nobody == executor;
  }
  /// Forgets what `include` and `seal` settled, if `executor` has claimed the group.
  RCLRT_SETUP void release(const void* executor) {
    if (owner_.load() == executor) {
      lowest_ = kAboveAll;
      ceiling_ = 0;
      ceiling_mutex_.reset();
      owner_.store(nullptr);
    }
  }

  /// Prepare phase, single-threaded: first `include` with the operating-system priority of every
  /// member (0 without real time), then `seal`.
  RCLRT_SETUP void include(int os_priority) {
    lowest_ = std::min(lowest_, os_priority);
    ceiling_ = std::max(ceiling_, os_priority);
  }
  RCLRT_SETUP void seal() {
    if (type_ == GroupType::kMutuallyExclusive && lowest_ < ceiling_ && lowest_ > 0) {
      ceiling_mutex_.emplace(ceiling_);
    }
  }

  void lock() noexcept RCLRT_WAITS {
    if (type_ == GroupType::kReentrant) {
      return;
    }
    if (ceiling_mutex_) {
      ceiling_mutex_->lock();
    } else {
      mutex_.lock();
    }
  }

  void unlock() noexcept RCLRT_NONBLOCKING {
    if (type_ == GroupType::kReentrant) {
      return;
    }
    if (ceiling_mutex_) {
      ceiling_mutex_->unlock();
    } else {
      mutex_.unlock();
    }
  }

 private:
  const GroupType type_;
  static constexpr int kAboveAll = 100;  // SCHED_FIFO ends at 99

  std::atomic<const void*> owner_{nullptr};  // who may change what follows
  int lowest_ = kAboveAll;
  int ceiling_ = 0;
  realtime::PiMutex mutex_;
  std::optional<realtime::CeilingMutex> ceiling_mutex_;
};

}  // namespace rclrt::executor
