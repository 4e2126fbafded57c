// SPDX-License-Identifier: Apache-2.0
#include "rclrt/subscription.hpp"

#include <rcl/error_handling.h>

#include <cstdio>
#include <utility>

#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

namespace {

executor::CallbackOptions engine_options(const std::string& topic, const QoS& qos,
                                         const CallbackOptions& options) {
  return {.name = options.name.empty() ? topic : options.name,
          .type = executor::EntityType::kSubscription,
          .level = options.priority,
          .credits = qos.depth(),
          .overload = options.overload,
          .group = options.group};
}

/// The middleware stamps arrivals with the system clock.
std::int64_t to_monotonic_ns(std::int64_t system_ns) noexcept {
  return system_ns - realtime::read_clock_ns(CLOCK_REALTIME) + realtime::monotonic_now_ns();
}

}  // namespace

SubscriptionBase::SubscriptionBase(std::shared_ptr<NodeHandle> node,
                                   const rosidl_message_type_support_t* type,
                                   const std::string& topic, const QoS& qos,
                                   const CallbackOptions& options)
    : Callback(engine_options(topic, qos, options)),
      node_(std::move(node)),
      subscription_(rcl_get_zero_initialized_subscription()) {
  rcl_subscription_options_t rcl_options = rcl_subscription_get_default_options();
  rcl_options.qos = qos.rmw();
  if (options.overload != Overload::kQueue) {
    rcl_options.qos.depth = 1;  // the one instance that may wait finds the newest message
  }
  const rcl_ret_t result =
      rcl_subscription_init(&subscription_, &node_->node, type, topic.c_str(), &rcl_options);
  if (rcl_subscription_options_fini(&rcl_options) != RCL_RET_OK) {
    rcl_reset_error();
  }
  detail::check(result, "creating a subscription on topic \"" + topic + "\"");
}

SubscriptionBase::~SubscriptionBase() {
  if (rcl_subscription_fini(&subscription_, &node_->node) != RCL_RET_OK) {
    std::fprintf(stderr, "rclrt: ending a subscription: %s\n", rcl_get_error_string().str);
    rcl_reset_error();
  }
}

std::string SubscriptionBase::topic_name() const {
  return rcl_subscription_get_topic_name(&subscription_);
}

std::size_t SubscriptionBase::publisher_count() const {
  std::size_t count = 0;
  detail::check(rcl_subscription_get_publisher_count(&subscription_, &count),
                "counting the publishers of a subscription");
  return count;
}

bool SubscriptionBase::take(void* message, InstanceInfo& info) {
  rmw_message_info_t message_info = rmw_get_zero_initialized_message_info();
  const rcl_ret_t result = rcl_take(&subscription_, message, &message_info, nullptr);
  if (result != RCL_RET_OK) {
    // A context that was shut down meanwhile invalidates the subscription: nothing to take.
    if (result == RCL_RET_SUBSCRIPTION_TAKE_FAILED || !node_->context->ok()) {
      rcl_reset_error();
      return false;
    }
    throw Error("taking a message from topic \"" + topic_name() + "\"", result);
  }
  if (info.ready_ns == 0) {
    info.ready_ns = to_monotonic_ns(message_info.received_timestamp);
    info.release_ns = info.ready_ns;
  }
  return true;
}

void SubscriptionBase::on_new_messages(const void* self, std::size_t count) {
  auto& subscription = *static_cast<SubscriptionBase*>(const_cast<void*>(self));
  const std::int64_t now = realtime::monotonic_now_ns();
  for (std::size_t i = 0; i < count; ++i) {
    executor::Instance* const instance = subscription.make_instance(now, now);
    if (instance != nullptr && !detail::PublishScope::hold(&subscription, instance)) {
      subscription.submit(instance);
    }
  }
}

void SubscriptionBase::attach() {
  // Announces what has arrived before, too.
  detail::check(
      rcl_subscription_set_on_new_message_callback(&subscription_, &on_new_messages, this),
      "listening to topic \"" + topic_name() + "\"");
}

void SubscriptionBase::detach() noexcept {
  // Waits for a listener that is running: after it returned, none will run.
  if (rcl_subscription_set_on_new_message_callback(&subscription_, nullptr, nullptr) !=
      RCL_RET_OK) {
    std::fprintf(stderr, "rclrt: ending a listener: %s\n", rcl_get_error_string().str);
    rcl_reset_error();
  }
  // A publisher on another thread may be about to submit what it holds. Polled, because being
  // notified would need memory that outlives this object.
  while (held_.load() != 0) {
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + 50'000);
  }
}

}  // namespace rclrt
