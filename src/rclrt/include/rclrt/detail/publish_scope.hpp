// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "rclrt/executor/callback.hpp"

namespace rclrt::detail {

/// Around a call of rcl_publish. Inside one process Fast DDS calls the listener of each
/// subscription from within rcl_publish, with the reader's mutex held. A more urgent worker woken
/// there would preempt the publisher only to block on that mutex, which has no priority
/// inheritance. So instances announced by the publisher's own call wait here until it has
/// returned and let go of every lock: two context switches fewer, and no inversion.
///
/// Lives on one thread's stack; nothing is shared.
class PublishScope {
 public:
  PublishScope() noexcept : outer_(current_) { current_ = this; }
  ~PublishScope() {
    current_ = outer_;
    for (std::size_t i = 0; i < count_; ++i) {
      held_[i]->callback->submit(held_[i]);
    }
  }
  PublishScope(const PublishScope&) = delete;
  PublishScope& operator=(const PublishScope&) = delete;

  /// Holds `instance` back if the calling thread is publishing and there is room.
  static bool hold(executor::Instance* instance) noexcept {
    PublishScope* const scope = current_;
    if (scope == nullptr || scope->count_ == scope->held_.size()) {
      return false;
    }
    scope->held_[scope->count_++] = instance;
    return true;
  }

 private:
  static thread_local PublishScope* current_;

  PublishScope* const outer_;
  std::size_t count_ = 0;
  std::array<executor::Instance*, 64> held_;  // more subscriptions than that are woken at once
};

}  // namespace rclrt::detail
