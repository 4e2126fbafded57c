// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "rclrt/executor/instance.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt::detail {

/// Around a call of rcl_publish. Inside one process Fast DDS calls the listener of each
/// subscription from within rcl_publish, with the reader's mutex held. A more urgent worker woken
/// there would preempt the publisher only to block on that mutex, which has no priority
/// inheritance. So instances announced by the publisher's own call wait here until it has
/// returned and let go of every lock: two context switches fewer, and no inversion.
///
/// Lives on one thread's stack; nothing is shared. Each held instance is counted in its
/// subscription, which waits for it when it is detached.
class PublishScope {
 public:
  PublishScope() noexcept : outer_(current_) { current_ = this; }
  ~PublishScope() {
    current_ = outer_;
    // The most urgent first: submitting may let the woken worker preempt this thread at once, and
    // what is still held must not be more urgent than what runs. Stable, so a level stays FIFO.
    for (std::size_t i = 1; i < count_; ++i) {
      const Held moved = held_[i];
      std::size_t to = i;
      for (; to > 0 && held_[to - 1].subscription->level() < moved.subscription->level(); --to) {
        held_[to] = held_[to - 1];
      }
      held_[to] = moved;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      held_[i].subscription->submit_held(held_[i].instance);
    }
  }
  PublishScope(const PublishScope&) = delete;
  PublishScope& operator=(const PublishScope&) = delete;

  /// Holds `instance` back if the calling thread is publishing and there is room.
  static bool hold(SubscriptionBase* subscription, executor::Instance* instance) noexcept {
    PublishScope* const scope = current_;
    if (scope == nullptr || scope->count_ == scope->held_.size()) {
      return false;
    }
    subscription->count_held();
    scope->held_[scope->count_++] = {subscription, instance};
    return true;
  }

 private:
  struct Held {
    SubscriptionBase* subscription;
    executor::Instance* instance;
  };

  static thread_local PublishScope* current_;

  PublishScope* const outer_;
  std::size_t count_ = 0;
  std::array<Held, 64> held_;  // further subscriptions are woken inside rcl_publish, in DDS order
};

}  // namespace rclrt::detail
