// SPDX-License-Identifier: Apache-2.0
// Receives the events of a waitable that must keep its notification function for good.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "rclrt/realtime/mutex.hpp"
#include "undelivered_work.hpp"

namespace rclrt_rclcpp {

/// Receives the notifications of an action server's requests. They reach the current listener; if
/// there is none, their number is kept for the next one. So the action server has the same
/// notification function as long as it exists, which is necessary for two reasons. rmw_fastrtps
/// calls the function of a service without checking whether it was removed. And with rclcpp_action
/// 28 the end of a goal would call an empty function (std::bad_function_call), while expired goals
/// are always announced to the first function that was set.
///
/// Thread-safe. `mutex_` has priority inheritance. While it is held, the listener is notified,
/// which never waits, or a number is stored.
class Mailbox {
 public:
  using Listener = std::function<void(std::size_t count, int entity)>;

  explicit Mailbox(std::weak_ptr<void> owner) : owner_(std::move(owner)) {}

  /// Returns the mailbox of this entity.
  static std::shared_ptr<Mailbox> of(const std::weak_ptr<void>& entity) {
    // Never destroyed: an executor may be a global object that ends later.
    static std::mutex& mutex = *new std::mutex;
    static auto& all =
        *new std::map<std::weak_ptr<void>, std::shared_ptr<Mailbox>, std::owner_less<>>;
    const std::scoped_lock lock(mutex);
    std::erase_if(all, [](const auto& each) { return each.first.expired(); });
    std::shared_ptr<Mailbox>& found = all[entity];
    if (!found) {
      found = std::make_shared<Mailbox>(entity);
    }
    return found;
  }

  void open(Listener listener) {
    const std::scoped_lock lock(mutex_);
    listener_ = std::move(listener);
  }
  /// Removes the listener. On return no thread is in it any more.
  void close() {
    Listener gone;  // ends without the lock
    const std::scoped_lock lock(mutex_);
    gone.swap(listener_);
  }
  void notify(std::size_t count, int entity) {
    const std::scoped_lock lock(mutex_);
    if (listener_) {
      listener_(count, entity);
    } else {
      UndeliveredWork::instance().keep(owner_, entity, count);
    }
  }

 private:
  const std::weak_ptr<void> owner_;
  rclrt::realtime::PiMutex mutex_;
  Listener listener_;
};

}  // namespace rclrt_rclcpp
