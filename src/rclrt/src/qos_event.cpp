// SPDX-License-Identifier: Apache-2.0
#include "rclrt/qos_event.hpp"

#include <rcl/error_handling.h>

#include <utility>

#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

namespace {
CallbackOptions named(CallbackOptions options, const std::string& topic) {
  if (options.name.empty()) {
    options.name = topic + " event";
  }
  return options;
}
}  // namespace

QosEventBase::QosEventBase(const std::shared_ptr<PublisherBase>& publisher,
                           rcl_publisher_event_type_t type, CallbackOptions options)
    : GuardCondition(publisher->handle()->node->context,
                     named(std::move(options), publisher->get_topic_name())),
      context_(publisher->handle()->node->context),
      claim_({publisher, &publisher->handle()->events}, type,
             "publisher on topic \"" + publisher->get_topic_name() + "\""),
      event_(rcl_get_zero_initialized_event()) {
  if (type == RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS) {
    publisher->handle()->end_qos_warnings();  // also because two cannot listen
  }
  detail::check(
      rcl_publisher_event_init(&event_, &publisher->handle()->publisher, type),
      "creating an event of the publisher on topic \"" + publisher->get_topic_name() + "\"");
}

QosEventBase::QosEventBase(const std::shared_ptr<SubscriptionBase>& subscription,
                           rcl_subscription_event_type_t type, CallbackOptions options)
    : GuardCondition(subscription->node()->context,
                     named(std::move(options), subscription->get_topic_name())),
      context_(subscription->node()->context),
      claim_({subscription, &subscription->events()}, type,
             "subscription on topic \"" + subscription->get_topic_name() + "\""),
      event_(rcl_get_zero_initialized_event()) {
  if (type == RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS) {
    subscription->end_qos_warnings();  // also because two cannot listen
  }
  detail::check(
      rcl_subscription_event_init(&event_, &subscription->rcl(), type),
      "creating an event of the subscription on topic \"" + subscription->get_topic_name() + "\"");
}

QosEventBase::~QosEventBase() { detail::report(rcl_event_fini(&event_), "ending an event"); }

bool QosEventBase::take(void* status) {
  const rcl_ret_t result = rcl_take_event(&event_, status);
  if (result == RCL_RET_EVENT_TAKE_FAILED || (result != RCL_RET_OK && !context_->ok())) {
    rcl_reset_error();
    return false;
  }
  detail::check(result, "taking an event");
  return true;
}

}  // namespace rclrt
