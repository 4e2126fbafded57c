// SPDX-License-Identifier: Apache-2.0
// Timers that run user code.
#pragma once

#include <utility>

#include "rclrt/callback_options.hpp"
#include "rclrt/detail/tracing.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt {

/// Released periodically on absolute time: late executions do not shift later releases.
using Timer = executor::TimerCallback;

namespace detail {

template <typename F>
class TimerOf final : public Timer {
 public:
  TimerOf(executor::CallbackOptions options, executor::TimerOptions timer, F function)
      : Timer(std::move(options), timer), function_(std::move(function)) {}

 protected:
  executor::Outcome run(InstanceInfo& info) override {
    const UserCode user_code(*this, info);
    call(function_, info);
    return executor::Outcome::kRan;
  }

 private:
  F function_;
};

}  // namespace detail

}  // namespace rclrt
