// SPDX-License-Identifier: Apache-2.0
#include "rclrt/subscription.hpp"

#include <rcl/error_handling.h>

#include <utility>

#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

SubscriptionBase::SubscriptionBase(std::shared_ptr<NodeHandle> node,
                                   const rosidl_message_type_support_t* type,
                                   const std::string& topic, const QoS& qos,
                                   const CallbackOptions& options)
    : Entity(executor::EntityType::kSubscription, topic, qos.depth(), options),
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
  detail::report(rcl_subscription_fini(&subscription_, &node_->node), "ending a subscription");
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
  stamp_arrival(info, message_info.received_timestamp);
  return true;
}

void SubscriptionBase::add_to(rcl_wait_set_t& wait_set) {
  detail::check(rcl_wait_set_add_subscription(&wait_set, &subscription_, &place_),
                "adding a subscription to a wait set");
}

bool SubscriptionBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.subscriptions[place_] != nullptr;
}

void SubscriptionBase::attach() {
  // Announces what has arrived before, too.
  detail::check(rcl_subscription_set_on_new_message_callback(&subscription_, &on_new_work,
                                                             static_cast<Entity*>(this)),
                "listening to topic \"" + topic_name() + "\"");
}

void SubscriptionBase::detach() noexcept {
  // Waits for a listener that is running: after it returned, none will run.
  detail::report(rcl_subscription_set_on_new_message_callback(&subscription_, nullptr, nullptr),
                 "ending a listener");
  await_held();
}

}  // namespace rclrt
