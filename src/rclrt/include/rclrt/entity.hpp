// SPDX-License-Identifier: Apache-2.0
// The common part of subscriptions, services, clients and guard conditions.
#pragma once

#include <rcl/event_callback.h>
#include <rcl/wait.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "rclrt/callback_options.hpp"
#include "rclrt/error.hpp"
#include "rclrt/executor/notified_callback.hpp"
#include "rclrt/export.hpp"

namespace rclrt {

namespace detail {
class PublishScope;
}  // namespace detail

/// Numbers of places that an entity needs in an rcl wait set.
struct WaitSetPlaces {
  std::size_t subscriptions = 0;
  std::size_t guard_conditions = 0;
  std::size_t clients = 0;
  std::size_t services = 0;
};

/// An rcl entity that an executor runs: a subscription, service, client or event. Most executors
/// are notified of work through `on_new_work`, which the entity registers as its rcl listener. The
/// `wait_set` executor polls the entity in an rcl wait set instead.
class RCLRT_EXPORT Entity : public executor::NotifiedCallback {
 public:
  /// Makes an entity. The callback's name is that of the options; if that is empty, `default_name`.
  /// At most `depth` instances wait. Throws std::invalid_argument for a service or client with
  /// another overload policy than kQueue: such a policy drops instances and leaves their messages
  /// in the middleware, so each later instance would handle an older message.
  RCLRT_SETUP Entity(executor::EntityType type, const std::string& default_name, std::size_t depth,
                     const CallbackOptions& options);

  /// Adds what this entity needs. Prepare phase.
  RCLRT_SETUP virtual void count_places(WaitSetPlaces& places) const = 0;
  /// Adds the entity to a wait set. Called by one thread, before each rcl_wait. Throws Error.
  virtual void add_to(rcl_wait_set_t& wait_set) = 0;
  /// Returns whether rcl_wait has found it ready. Called after each rcl_wait.
  virtual bool is_ready_in(const rcl_wait_set_t& wait_set) const = 0;

 protected:
  /// Receives the notifications of rcl for every entity; `self` is an Entity.
  static void on_new_work(const void* self, std::size_t count);
  /// Registers the rcl listener by calling `set_listener`, which returns rcl's code. Calls it
  /// twice, because rmw_fastrtps first counts the waiting messages and then installs the listener:
  /// the second call announces the messages that arrived in between. `action` is the text for
  /// Error. Throws Error.
  template <typename SetListener>
  static void listen(const SetListener& set_listener, const std::string& action) {
    detail::check(set_listener(), action);
    detail::check(set_listener(), action);
  }
  /// Announces instances as the base class does. If the calling thread is publishing, the instances
  /// are held back until its publish has returned.
  void announce(std::size_t count) noexcept final;
  /// Sets the time at which the work became ready, if the executor has not set it. `received_ns` is
  /// the time at which the middleware received the message, in system time.
  static void stamp_arrival(InstanceInfo& info, std::int64_t received_ns) noexcept;

 private:
  friend class detail::PublishScope;
};

}  // namespace rclrt
