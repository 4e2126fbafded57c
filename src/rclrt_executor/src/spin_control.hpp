// SPDX-License-Identifier: Apache-2.0
// The kinds of spins.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "callback_set.hpp"
#include "dispatcher.hpp"
#include "instance_runner.hpp"
#include "rclrt/executor/spin_result.hpp"
#include "spin_state.hpp"
#include "stall_watch.hpp"

namespace rclrt::executor {

/// Called by the thread that spins; see Executor for the contracts of the functions.
class SpinControl {
 public:
  SpinControl(const std::string& name, CallbackSet& callbacks, Dispatcher& dispatcher,
              InstanceRunner& runner, SpinState& state, StallWatch& stalls)
      : name_(name),
        callbacks_(callbacks),
        dispatcher_(dispatcher),
        runner_(runner),
        state_(state),
        stalls_(stalls) {}

  void spin() RCLRT_WAITS;
  void spin_some() RCLRT_WAITS;
  bool spin_once(std::chrono::nanoseconds timeout) RCLRT_WAITS;
  SpinResult spin_until(const std::function<bool(std::chrono::nanoseconds)>& complete,
                        std::chrono::nanoseconds timeout) RCLRT_WAITS;
  bool run_one_on_caller(std::chrono::nanoseconds timeout, std::int64_t ready_by_ns) RCLRT_WAITS;

 private:
  // Waits for a moment and returns whether this spin is over; nullptr: it ends by cancel.
  using Ended = std::function<bool()>;

  void guarded(const std::function<void()>& spin);
  void run(const Ended& ended);
  void run_limited(SpinLimit limit, std::int64_t deadline_ns);
  bool run_one(std::int64_t deadline_ns, std::int64_t ready_by_ns);
  Ended all_ended() const;
  bool any_pending() const;

  const std::string& name_;
  CallbackSet& callbacks_;
  Dispatcher& dispatcher_;
  InstanceRunner& runner_;
  SpinState& state_;
  StallWatch& stalls_;
};

}  // namespace rclrt::executor
