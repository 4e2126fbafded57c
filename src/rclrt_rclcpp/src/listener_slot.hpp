// SPDX-License-Identifier: Apache-2.0
// A pointer that a middleware may use at any time, also after the listener has ended.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "rclrt/realtime/quiescence_guard.hpp"

namespace rclrt_rclcpp {

/// Receives notifications of new work from a middleware.
class WorkListener {
 public:
  /// Notes that `count` more items wait. Called from threads of the middleware.
  virtual void on_new_work(std::size_t count) noexcept = 0;

 protected:
  ~WorkListener() = default;
};

/// A place for a pointer to a listener, to be registered with a middleware. The middleware's entity
/// may live longer than the rclcpp entity: a running QoS event, or a list of a group's entities,
/// keeps it for a while after the owner has dropped the subscription, and messages still arrive. So
/// the middleware gets a pointer to such a place, which is never freed, only reused. A late
/// notification finds no listener, or the next listener, which then looks for work once in vain.
///
/// One thread at a time calls `open` and `close`; any thread calls `notify`.
class ListenerSlot {
 public:
  ListenerSlot() = default;
  ~ListenerSlot() { close(); }
  ListenerSlot(const ListenerSlot&) = delete;
  ListenerSlot& operator=(const ListenerSlot&) = delete;

  /// Makes `notify` call `listener` from now on. Returns the pointer to register with the
  /// middleware, together with `notify`.
  const void* open(WorkListener& listener) {
    if (place_ == nullptr) {
      place_ = Places::instance().take();
    }
    place_->listener = &listener;
    place_->notifiers.open();
    return place_;
  }
  /// Waits until no thread is in the listener any more; none will enter it again.
  void close() noexcept {
    if (place_ == nullptr) {
      return;
    }
    place_->notifiers.close();
    Places::instance().give_back(place_);
    place_ = nullptr;
  }

  /// Notifies the listener that is open now of new work. This is the function that the middleware
  /// calls (rcl_event_callback_t). `user_data` is nullptr if the middleware has the function
  /// already, but not yet the pointer.
  static void notify(const void* user_data, std::size_t count) {
    if (user_data == nullptr) {
      return;
    }
    Place& place = *static_cast<Place*>(const_cast<void*>(user_data));
    const rclrt::realtime::QuiescenceGuard::Inside inside(place.notifiers);
    if (inside.allowed()) {
      place.listener->on_new_work(count);
    }
  }

 private:
  /// Invariant: `listener` is written while the guard is closed and empty, and read inside it.
  struct Place {
    WorkListener* listener = nullptr;
    rclrt::realtime::QuiescenceGuard notifiers;
  };

  class Places {
   public:
    static Places& instance() {
      // Never destroyed, like the places in it.
      static Places& result = *new Places;
      return result;
    }
    Place* take() {
      const std::scoped_lock lock(mutex_);
      if (unused_.empty()) {
        return &places_.emplace_back();
      }
      Place* const result = unused_.front();  // the place that was given back first
      unused_.pop_front();
      return result;
    }
    void give_back(Place* place) noexcept {
      const std::scoped_lock lock(mutex_);
      unused_.push_back(place);
    }

   private:
    std::mutex mutex_;  // guards both
    std::deque<Place> places_;
    std::deque<Place*> unused_;
  };

  Place* place_ = nullptr;
};

}  // namespace rclrt_rclcpp
