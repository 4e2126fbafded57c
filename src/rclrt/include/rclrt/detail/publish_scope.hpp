// SPDX-License-Identifier: Apache-2.0
// Holds back the callbacks that a publish releases until it has returned.
#pragma once

#include <array>
#include <cstddef>

#include "rclrt/entity.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/export.hpp"

namespace rclrt::detail {

class IntraTopic;

/// Holds back the instances that a publish announces to other callbacks of this process, until the
/// publish has returned. The object is the scope of a call of rcl_publish, rcl_send_request or
/// rcl_send_response, on the stack of the calling thread. Reason: inside one process Fast DDS calls
/// the listener of each receiver from within that call, with the reader's mutex held. A more urgent
/// worker that is woken there would preempt the sender only to block on that mutex, which has no
/// priority inheritance. Holding the instances back saves two context switches and avoids the
/// priority inversion.
///
/// Each held instance is counted in its entity, and the entity waits for it when it is detached.
class RCLRT_EXPORT PublishScope {
 public:
  /// Begins the scope of a publish. The intra-process subscriptions of the topic `handed_over`
  /// already have the message; nullptr: there are none.
  explicit PublishScope(const IntraTopic* handed_over = nullptr) noexcept
      : outer_(current_), handed_over_(handed_over) {
    current_ = this;
  }
  ~PublishScope() {
    current_ = outer_;
    // The most urgent instance first: `submit` may let the woken worker preempt this thread at
    // once, and the instances still held must not be more urgent than that worker. The order is
    // stable, so each priority stays FIFO.
    for (std::size_t i = 1; i < count_; ++i) {
      const Held moved = held_[i];
      std::size_t to = i;
      for (; to > 0 && held_[to - 1].entity->level() < moved.entity->level(); --to) {
        held_[to] = held_[to - 1];
      }
      held_[to] = moved;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      held_[i].entity->submit_held(held_[i].instance);
    }
  }
  PublishScope(const PublishScope&) = delete;
  PublishScope& operator=(const PublishScope&) = delete;

  /// Holds `instance` back if the calling thread is sending and there is room.
  static bool hold(Entity* entity, executor::Instance* instance) noexcept {
    PublishScope* const scope = current_;
    if (scope == nullptr || scope->count_ == scope->held_.size()) {
      return false;
    }
    entity->count_held();
    scope->held_[scope->count_++] = {entity, instance};
    return true;
  }

  /// Returns whether the message that the calling thread is sending now was already added to the
  /// intra-process subscriptions of `topic`. If so, what the middleware delivers to them is a
  /// second copy of the message.
  static bool has_handed_over(const IntraTopic* topic) noexcept {
    return current_ != nullptr && current_->handed_over_ == topic;
  }

 private:
  struct Held {
    Entity* entity;
    executor::Instance* instance;
  };

  static constinit thread_local PublishScope* current_;

  PublishScope* const outer_;
  const IntraTopic* const handed_over_;
  std::size_t count_ = 0;
  std::array<Held, 64> held_;  // further entities are woken inside the call, in DDS order
};

}  // namespace rclrt::detail
