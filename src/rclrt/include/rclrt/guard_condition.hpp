// SPDX-License-Identifier: Apache-2.0
// Callbacks that any thread can trigger.
#pragma once

#include <rcl/guard_condition.h>

#include <memory>
#include <utility>

#include "rclrt/detail/tracing.hpp"
#include "rclrt/entity.hpp"
#include "rclrt/export.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt {

class Context;

/// Lets any thread request a run of a callback. Triggers before the callback starts count as one.
class RCLRT_EXPORT GuardCondition : public Entity {
 public:
  /// Makes the guard condition; use Node::create_guard_condition.
  RCLRT_SETUP GuardCondition(std::shared_ptr<Context> context, const CallbackOptions& options);
  ~GuardCondition() override;

  /// Makes the callback run at least once after this call has begun. (With kSkipIfRunning it does
  /// not run again if it is running.) Thread-safe. Under the `wait_set` executor this goes through
  /// rmw, which allocates and locks; under other executors it does neither. The call must return
  /// before the guard condition is destroyed.
  void trigger() noexcept;

  void count_places(WaitSetPlaces& places) const override { ++places.guard_conditions; }
  void add_to(rcl_wait_set_t& wait_set) override;
  bool is_ready_in(const rcl_wait_set_t& wait_set) const override;

 protected:
  /// Clears the trigger; called first in `run`.
  void clear() noexcept { forget_one(); }

  void attach() override;
  void detach() noexcept override;

 private:
  const std::shared_ptr<Context> context_;
  rcl_guard_condition_t guard_condition_;
  std::size_t place_ = 0;  // in the wait set
};

namespace detail {

template <typename F>
class GuardConditionOf : public GuardCondition {
 public:
  GuardConditionOf(std::shared_ptr<Context> context, const CallbackOptions& options, F function)
      : GuardCondition(std::move(context), options), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    clear();
    const UserCode user_code(*this, info);
    call(function_, info);
    return executor::Outcome::kRan;
  }

 private:
  F function_;
};

}  // namespace detail

}  // namespace rclrt
