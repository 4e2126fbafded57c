// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rcl/subscription.h>

#include <cstddef>
#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "rclrt/callback_options.hpp"
#include "rclrt/entity.hpp"
#include "rclrt/qos.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt {

struct NodeHandle;

/// An rcl subscription as an entity of the engine. Messages are taken on the worker that runs the
/// callback, into storage that exists since construction.
class SubscriptionBase : public Entity {
 public:
  RCLRT_SETUP SubscriptionBase(std::shared_ptr<NodeHandle> node,
                               const rosidl_message_type_support_t* type, const std::string& topic,
                               const QoS& qos, const CallbackOptions& options);
  ~SubscriptionBase() override;

  /// After remapping, with its namespace.
  std::string topic_name() const;
  /// How many publishers it is matched with now.
  std::size_t publisher_count() const;

  void count_places(WaitSetPlaces& places) const override { ++places.subscriptions; }
  void add_to(rcl_wait_set_t& wait_set) override;
  bool is_ready_in(const rcl_wait_set_t& wait_set) const override;

 protected:
  /// Takes the oldest message; false when there is none. Fills in when the message arrived if the
  /// executor does not know. Throws Error.
  bool take(void* message, InstanceInfo& info);

  void attach() override;
  void detach() noexcept override;

 private:
  const std::shared_ptr<NodeHandle> node_;
  rcl_subscription_t subscription_;
  std::size_t place_ = 0;  // in the wait set
};

template <typename T>
class Subscription : public SubscriptionBase {
 protected:
  RCLRT_SETUP Subscription(std::shared_ptr<NodeHandle> node, const std::string& topic,
                           const QoS& qos, const CallbackOptions& options)
      : SubscriptionBase(std::move(node),
                         rosidl_typesupport_cpp::get_message_type_support_handle<T>(), topic, qos,
                         options) {}
};

namespace detail {

/// Calls user code with or without the instance's information, whichever it takes.
template <typename F, typename... Arguments>
void call(F& function, const InstanceInfo& info, Arguments&... arguments) {
  if constexpr (std::is_invocable_v<F&, Arguments&..., const InstanceInfo&>) {
    function(arguments..., info);
  } else {
    static_assert(std::is_invocable_v<F&, Arguments&...>,
                  "the callback must take the message(s) by const reference or value (a service's: "
                  "const Request&, Response&), optionally followed by const rclrt::InstanceInfo&");
    function(arguments...);
  }
}

template <typename T, typename F>
class SubscriptionOf final : public Subscription<T> {
 public:
  SubscriptionOf(std::shared_ptr<NodeHandle> node, const std::string& topic, const QoS& qos,
                 const CallbackOptions& options, F function)
      : Subscription<T>(std::move(node), topic, qos, options), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    if (this->group().type() == CallbackGroupType::kReentrant) {
      T own;  // instances overlap: each needs a message of its own
      return run(own, info);
    }
    return run(message_, info);
  }

 private:
  executor::Outcome run(T& message, InstanceInfo& info) {
    if (!this->take(&message, info)) {
      return executor::Outcome::kEmpty;
    }
    info.start_ns = realtime::monotonic_now_ns();
    call(function_, info, std::as_const(message));
    return executor::Outcome::kRan;
  }

  F function_;
  T message_;  // reused: a message of a size seen before allocates nothing
};

}  // namespace detail

}  // namespace rclrt
