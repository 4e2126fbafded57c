// SPDX-License-Identifier: Apache-2.0
// Where a waitable tells of events whose function must stay for good.
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

/// An action server must not lose the function that it tells of requests by, once it has one:
/// rmw_fastrtps calls that of a service without a look whether it was taken away meanwhile; and
/// with rclcpp_action 28 the end of a goal then calls an empty one (std::bad_function_call), and
/// goes on telling the first function of goals that expire, whatever comes after it. So its
/// function is one for good, and leads here: to whoever listens, or to what is left behind for the
/// next.
///
/// Thread-safe. `mutex_` has priority inheritance; under it a listener is told, which never waits,
/// or a number is kept.
class Mailbox {
 public:
  using Listener = std::function<void(std::size_t count, int entity)>;

  explicit Mailbox(std::weak_ptr<void> owner) : owner_(std::move(owner)) {}

  /// The one of this entity.
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
  /// On return nobody is in the listener any more.
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
