// SPDX-License-Identifier: Apache-2.0
#include "rcl_readiness.hpp"

#include <rcl/error_handling.h>

#include <algorithm>
#include <utility>

#include "rclrt/context.hpp"
#include "rclrt/error.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::detail {

RclReadiness::RclReadiness(std::shared_ptr<Context> context)
    : context_(std::move(context)),
      wake_(rcl_get_zero_initialized_guard_condition()),
      wait_set_(rcl_get_zero_initialized_wait_set()) {
  check(
      rcl_guard_condition_init(&wake_, context_->rcl(), rcl_guard_condition_get_default_options()),
      "creating a guard condition");
}

RclReadiness::~RclReadiness() {
  if (rcl_wait_set_is_valid(&wait_set_)) {
    report(rcl_wait_set_fini(&wait_set_), "ending a wait set");
  }
  report(rcl_guard_condition_fini(&wake_), "ending a guard condition");
}

void RclReadiness::watch(const std::vector<executor::Callback*>& callbacks) {
  entities_.clear();
  if (rcl_wait_set_is_valid(&wait_set_)) {
    check(rcl_wait_set_fini(&wait_set_), "ending a wait set");
  }
  WaitSetPlaces places;
  for (executor::Callback* callback : callbacks) {
    // Every non-timer callback of this package is an Entity.
    entities_.push_back(&dynamic_cast<Entity&>(*callback));
    entities_.back()->count_places(places);
  }
  check(rcl_wait_set_init(&wait_set_, places.subscriptions, places.guard_conditions + 1, 0,
                          places.clients, places.services, 0, context_->rcl(),
                          rcl_get_default_allocator()),
        "creating a wait set");
}

void RclReadiness::wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
                        std::vector<bool>& ready) {
  std::fill(ready.begin(), ready.end(), false);
  if (!context_->ok()) {
    return;  // shut down: the executor is about to be cancelled
  }
  check(rcl_wait_set_clear(&wait_set_), "clearing a wait set");
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    if (asked[i]) {
      entities_[i]->add_to(wait_set_);
    }
  }
  check(rcl_wait_set_add_guard_condition(&wait_set_, &wake_, nullptr), "adding to a wait set");
  std::int64_t timeout_ns = -1;  // for ever
  if (deadline_ns != realtime::EventCount::kForever) {
    timeout_ns = std::max<std::int64_t>(deadline_ns - realtime::monotonic_now_ns(), 0);
  }
  const rcl_ret_t result = rcl_wait(&wait_set_, timeout_ns);
  if (result == RCL_RET_TIMEOUT) {
    return;
  }
  if (result != RCL_RET_OK && !context_->ok()) {
    rcl_reset_error();
    return;
  }
  check(result, "waiting for work");
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    ready[i] = asked[i] && entities_[i]->is_ready_in(wait_set_);
  }
}

void RclReadiness::wake() noexcept {
  report(rcl_trigger_guard_condition(&wake_), "waking a wait set");
}

}  // namespace rclrt::detail
