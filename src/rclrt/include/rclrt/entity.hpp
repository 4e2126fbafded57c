// SPDX-License-Identifier: Apache-2.0
// What subscriptions, services, clients and guard conditions have in common.
#pragma once

#include <rcl/event_callback.h>
#include <rcl/wait.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rclrt/callback_options.hpp"
#include "rclrt/error.hpp"
#include "rclrt/executor/callback.hpp"

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
class Entity : public executor::Callback {
 public:
  /// `default_name` is the callback's unless the options have one; `depth` is how many instances
  /// may wait. Throws std::invalid_argument for a service or client with an overload policy: what
  /// an instance less leaves in the middleware would be answered by the next, and all later ones
  /// late.
  RCLRT_SETUP Entity(executor::EntityType type, const std::string& default_name, std::size_t depth,
                     const CallbackOptions& options);

  /// Adds what this entity needs. Prepare phase.
  RCLRT_SETUP virtual void count_places(WaitSetPlaces& places) const = 0;
  /// Called by one thread, before and after each rcl_wait. Throws Error.
  virtual void add_to(rcl_wait_set_t& wait_set) = 0;
  virtual bool is_ready_in(const rcl_wait_set_t& wait_set) const = 0;

 protected:
  /// The rcl listener of every entity; `self` is an Entity.
  static void on_new_work(const void* self, std::size_t count);
  /// Calls `set_listener`, which registers the rcl listener and returns rcl's code, twice:
  /// rmw_fastrtps counts what waits first and listens afterwards; the second call announces what
  /// came in between. `action` as for Error. Throws Error.
  template <typename SetListener>
  static void listen(const SetListener& set_listener, const std::string& action) {
    detail::check(set_listener(), action);
    detail::check(set_listener(), action);
  }
  /// Announces `count` instances, ready now. Thread-safe.
  void announce(std::size_t count) noexcept;
  /// Fills in when the work became ready, if the executor does not know. `received_ns` is the
  /// middleware's stamp: system time.
  static void stamp_arrival(InstanceInfo& info, std::int64_t received_ns) noexcept;
  /// For work that may be told of while no executor listens: announces `count` instances, or keeps
  /// the number until one does. False if none listens. Thread-safe, never waits.
  bool tell(std::size_t count) noexcept;
  /// The same for one instance, however often it is told of before it is announced.
  bool tell_once() noexcept;
  /// What was told of meanwhile is announced.
  void start_listening() noexcept;
  /// Returns when no `tell` announces any more.
  void stop_listening() noexcept;
  /// Whether something is kept.
  bool has_untold() const noexcept { return untold_.load() > 0; }
  /// One instance less is kept: it was taken without having been announced.
  void forget_one() noexcept;
  /// After the listener was removed: waits until nobody holds an announced instance back.
  void await_held() noexcept;

 private:
  friend class detail::PublishScope;

  void count_held() noexcept { held_.fetch_add(1); }
  void submit_held(executor::Instance* instance) noexcept {
    submit(instance);
    held_.fetch_sub(1);  // the last access: detach may let the entity end from here on
  }

  bool announce_if_listening() noexcept;
  void announce_untold() noexcept;

  // Who may still submit: instances announced but held back by who sends (see PublishScope), and
  // calls of announce_if_listening. Once the listener is removed, or listening_ is false, nobody
  // starts to announce; so at zero nobody submits any more.
  std::atomic<int> held_{0};
  // A `tell` adds to untold_ and then reads listening_; start_listening sets listening_ and then
  // reads untold_ (all seq_cst): one of the two sees the other, and who takes the number out
  // announces it.
  std::atomic<bool> listening_{false};
  std::atomic<std::size_t> untold_{0};
};

}  // namespace rclrt
