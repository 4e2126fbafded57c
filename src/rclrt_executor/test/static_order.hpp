// SPDX-License-Identifier: Apache-2.0
// Callbacks of a StaticOrderExecutor.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/executor/static_order_executor.hpp"
#include "rclrt/realtime/clock.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {

using namespace std::chrono_literals;
using Events = std::vector<std::string>;

inline ExecutorOptions one_thread() {
  ExecutorOptions options = on_one_cpu();
  options.preemption = Preemption::kByRealtime;
  return options;
}

/// A callback that reads ahead: its message is the value that `input` has when it is taken.
class Reader : public TestCallback {
 public:
  Reader(CallbackOptions options, const int& input, EventLog& log)
      : TestCallback(std::move(options), nullptr), input_(input), log_(log) {}
  Reader(const std::string& name, const int& input, EventLog& log)
      : Reader(named(name), input, log) {}

  /// Called while the input is taken.
  std::function<void()> on_take = [] {};

 protected:
  void take_input(InstanceInfo& info) override {
    EXPECT_NE(info.release_ns, 0);
    taken_ = input_;
    log_.push_back("take " + name());
    on_take();
  }
  void discard_input() noexcept override { log_.push_back("discard " + name()); }
  Outcome run(InstanceInfo& info) override {
    info.start_ns = realtime::monotonic_now_ns();
    log_.push_back(name() + " " + std::to_string(taken_));
    return Outcome::kRan;
  }

 private:
  const int& input_;
  EventLog& log_;
  int taken_ = -1;
};

/// Holds when `trigger` does, and counts how often it was evaluated while it did not hold.
class CountingTrigger final : public StaticOrderTrigger {
 public:
  explicit CountingTrigger(std::shared_ptr<const StaticOrderTrigger> trigger)
      : trigger_(std::move(trigger)) {}
  bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING override {
    const bool result = trigger_->holds(callbacks);
    refusals_ += result ? 0 : 1;
    return result;
  }
  int refusals() const { return refusals_; }

 private:
  const std::shared_ptr<const StaticOrderTrigger> trigger_;
  mutable std::atomic<int> refusals_{0};
};

class StaticOrder : public ::testing::Test {
 protected:
  std::shared_ptr<TestCallback> logged(const std::string& name, int level = 0,
                                       EntityType type = EntityType::kSubscription) {
    CallbackOptions options = named(name, level);
    options.type = type;
    return std::make_shared<TestCallback>(
        options, [this, name](const InstanceInfo&) { log.push_back(name); });
  }
  /// Makes a callback that logs its name, then calls `action`.
  std::shared_ptr<TestCallback> acting(const std::string& name, int level,
                                       const std::function<void()>& action) {
    return std::make_shared<TestCallback>(named(name, level),
                                          [this, name, action](const InstanceInfo&) {
                                            log.push_back(name);
                                            action();
                                          });
  }

  EventLog log;
};

}  // namespace rclrt::executor::test
