// SPDX-License-Identifier: Apache-2.0
#include "rclrt/guard_condition.hpp"

#include <utility>

#include "rclrt/context.hpp"
#include "rclrt/error.hpp"
#include "tracing.hpp"

namespace rclrt {

GuardCondition::GuardCondition(std::shared_ptr<Context> context, const CallbackOptions& options)
    : Entity(executor::EntityType::kWaitable, "guard condition", 1, options),
      context_(std::move(context)),
      guard_condition_(rcl_get_zero_initialized_guard_condition()) {
  detail::check(rcl_guard_condition_init(&guard_condition_, context_->rcl(),
                                         rcl_guard_condition_get_default_options()),
                "creating a guard condition");
  detail::trace_guard_condition(*this);
}

GuardCondition::~GuardCondition() {
  detail::report(rcl_guard_condition_fini(&guard_condition_), "ending a guard condition");
}

[[gnu::hot]] void GuardCondition::trigger() noexcept {
  if (!notify_once()) {
    detail::report(rcl_trigger_guard_condition(&guard_condition_), "triggering a guard condition");
  }
}

void GuardCondition::add_to(rcl_wait_set_t& wait_set) {
  detail::check(rcl_wait_set_add_guard_condition(&wait_set, &guard_condition_, &place_),
                "adding a guard condition to a wait set");
  if (has_unannounced()) {  // an earlier ready set, which rmw reset it for, ended before it ran
    detail::report(rcl_trigger_guard_condition(&guard_condition_), "triggering a guard condition");
  }
}

bool GuardCondition::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.guard_conditions[place_] != nullptr;
}

void GuardCondition::attach() { start_listening(); }

void GuardCondition::detach() noexcept { stop_listening(); }

}  // namespace rclrt
