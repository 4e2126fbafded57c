// SPDX-License-Identifier: Apache-2.0
// What subscriptions, services, clients and guard conditions have in common.
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

/// How many places an entity needs in an rcl wait set.
struct WaitSetPlaces {
  std::size_t subscriptions = 0;
  std::size_t guard_conditions = 0;
  std::size_t clients = 0;
  std::size_t services = 0;
};

/// An rcl entity that the engine runs. Executors that listen are told of work through
/// `on_new_work`, which the entity registers as its rcl listener; `wait_set` asks through the wait
/// set instead.
class RCLRT_EXPORT Entity : public executor::NotifiedCallback {
 public:
  /// Makes the entity. `default_name` is the callback's unless the options have one; `depth` is how
  /// many instances may wait. Throws std::invalid_argument for a service or client with an overload
  /// policy: what an instance less leaves in the middleware would be answered by the next, and all
  /// later ones late.
  RCLRT_SETUP Entity(executor::EntityType type, const std::string& default_name, std::size_t depth,
                     const CallbackOptions& options);

  /// Adds what this entity needs. Prepare phase.
  RCLRT_SETUP virtual void count_places(WaitSetPlaces& places) const = 0;
  /// Adds the entity to a wait set. Called by one thread, before each rcl_wait. Throws Error.
  virtual void add_to(rcl_wait_set_t& wait_set) = 0;
  /// Returns whether rcl_wait has found it ready. Called after each rcl_wait.
  virtual bool is_ready_in(const rcl_wait_set_t& wait_set) const = 0;

 protected:
  /// Takes what rcl tells the listener of every entity; `self` is an Entity.
  static void on_new_work(const void* self, std::size_t count);
  /// Calls `set_listener`, which registers the rcl listener and returns rcl's code, twice:
  /// rmw_fastrtps counts what waits first and listens afterwards; the second call announces what
  /// came in between. `action` as for Error. Throws Error.
  template <typename SetListener>
  static void listen(const SetListener& set_listener, const std::string& action) {
    detail::check(set_listener(), action);
    detail::check(set_listener(), action);
  }
  /// Announces as the base does; but what this thread itself sends waits for the end of its
  /// publish.
  void announce(std::size_t count) noexcept final;
  /// Fills in when the work became ready, if the executor does not know. `received_ns` is the
  /// middleware's stamp: system time.
  static void stamp_arrival(InstanceInfo& info, std::int64_t received_ns) noexcept;

 private:
  friend class detail::PublishScope;
};

}  // namespace rclrt
