// SPDX-License-Identifier: Apache-2.0
#include "rclrt/qos_event.hpp"

#include <rcl/error_handling.h>

#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

QosEventBase::QosEventBase(const std::shared_ptr<PublisherBase>& publisher,
                           rcl_publisher_event_type_t type, const CallbackOptions& options)
    : Entity(executor::EntityType::kWaitable, publisher->topic_name() + " event", 1, options),
      source_(publisher),
      context_(publisher->handle()->node->context),
      event_(rcl_get_zero_initialized_event()) {
  detail::check(rcl_publisher_event_init(&event_, &publisher->handle()->publisher, type),
                "creating an event of the publisher on topic \"" + publisher->topic_name() + "\"");
}

QosEventBase::QosEventBase(const std::shared_ptr<SubscriptionBase>& subscription,
                           rcl_subscription_event_type_t type, const CallbackOptions& options)
    : Entity(executor::EntityType::kWaitable, subscription->topic_name() + " event", 1, options),
      source_(subscription),
      context_(subscription->node()->context),
      event_(rcl_get_zero_initialized_event()) {
  detail::check(
      rcl_subscription_event_init(&event_, &subscription->rcl(), type),
      "creating an event of the subscription on topic \"" + subscription->topic_name() + "\"");
}

QosEventBase::~QosEventBase() { detail::report(rcl_event_fini(&event_), "ending an event"); }

void QosEventBase::add_to(rcl_wait_set_t& wait_set) {
  detail::check(rcl_wait_set_add_event(&wait_set, &event_, &place_),
                "adding an event to a wait set");
}

bool QosEventBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.events[place_] != nullptr;
}

bool QosEventBase::take(void* status) {
  const rcl_ret_t result = rcl_take_event(&event_, status);
  if (result == RCL_RET_EVENT_TAKE_FAILED || (result != RCL_RET_OK && !context_->ok())) {
    rcl_reset_error();
    return false;
  }
  detail::check(result, "taking an event");
  return true;
}

void QosEventBase::attach() {
  // Announces what has happened before, too.
  listen(
      [this] { return rcl_event_set_callback(&event_, &on_new_work, static_cast<Entity*>(this)); },
      "listening to an event");
}

void QosEventBase::detach() noexcept {
  // Waits for a listener that is running: after it returned, none will run.
  detail::report(rcl_event_set_callback(&event_, nullptr, nullptr), "ending a listener");
  await_held();
}

}  // namespace rclrt
