// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests.
#pragma once

#include <gtest/gtest.h>

#include <rclcpp/version.h>
#include <chrono>
#include <functional>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <test_msgs/msg/basic_types.hpp>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_rclcpp::test {

using namespace std::chrono_literals;

using Message = test_msgs::msg::BasicTypes;

using AllExecutors = ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor,
                                      ThreadDispatchExecutor, EdfExecutor, PicasExecutor,
                                      PerGroupExecutor, StaticOrderExecutor, WorkshopExecutor>;
/// The executors that map priorities to those of threads.
using ExecutorsOfLevels =
    ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, ThreadDispatchExecutor>;

/// True for an executor that takes `workers_per_level`.
template <typename E>
inline constexpr bool kHasWorkers =
    !std::is_same_v<E, EdfExecutor> && !std::is_same_v<E, PerGroupExecutor> &&
    !std::is_same_v<E, StaticOrderExecutor>;

struct ExecutorName {
  template <typename E>
  static std::string GetName(int) {
    if (std::is_same_v<E, PreemptiveExecutor>) {
      return "Preemptive";
    }
    if (std::is_same_v<E, ProducerConsumerExecutor>) {
      return "ProducerConsumer";
    }
    if (std::is_same_v<E, ThreadDispatchExecutor>) {
      return "ThreadDispatch";
    }
    if (std::is_same_v<E, EdfExecutor>) {
      return "Edf";
    }
    if (std::is_same_v<E, PicasExecutor>) {
      return "Picas";
    }
    if (std::is_same_v<E, PerGroupExecutor>) {
      return "PerGroup";
    }
    return std::is_same_v<E, StaticOrderExecutor> ? "StaticOrder" : "Workshop";
  }
};

#define RCLRT_SKIP_WITHOUT_REALTIME() \
  if (const auto reason = ::rclrt::realtime::why_no_realtime(95)) GTEST_SKIP() << *reason

/// Initializes rclcpp for the time of a test.
class Ros : public ::testing::Test {
 protected:
  Ros() { rclcpp::init(0, nullptr); }
  ~Ros() override { rclcpp::shutdown(); }
};

/// Returns options for one CPU, so that the order of priority is the order of execution.
inline Options on_one_cpu() {
  Options options;
  options.engine.cpus = {rclrt::realtime::allowed_cpus().front()};
  return options;
}

inline bool eventually(const std::function<bool()>& condition, std::chrono::seconds within = 20s) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// Runs `spin` on its own thread until the end of the scope.
class Spinning {
 public:
  explicit Spinning(rclcpp::Executor& executor)
      : executor_(executor), thread_([&executor] { executor.spin(); }) {
    EXPECT_TRUE(eventually([&] { return executor.is_spinning(); }));
  }
  ~Spinning() {
    executor_.cancel();
    thread_.join();
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  rclcpp::Executor& executor_;
  std::thread thread_;
};

/// Stubs for the functions that a waitable has only for wait sets.
class WithoutWaitSet : public rclcpp::Waitable {
 public:
  void add_to_wait_set(rcl_wait_set_t&) override {}
  bool is_ready(const rcl_wait_set_t&) override { return false; }
  std::shared_ptr<void> take_data() override { return nullptr; }
  std::shared_ptr<void> take_data_by_entity_id(std::size_t) override { return nullptr; }
#if RCLCPP_VERSION_MAJOR >= 29
  std::vector<std::shared_ptr<rclcpp::TimerBase>> get_timers() const override { return {}; }
#endif
};

/// A user's waitable with events that any thread may raise.
class Bell final : public WithoutWaitSet {
 public:
  explicit Bell(std::function<void()> rung) : rung_(std::move(rung)) {}

  void ring() { tell_(1, 0); }

  void set_on_ready_callback(std::function<void(std::size_t, int)> callback) override {
    tell_ = std::move(callback);
  }
  void clear_on_ready_callback() override { tell_ = nullptr; }
  void execute(const std::shared_ptr<void>&) override { rung_(); }

 private:
  const std::function<void()> rung_;
  std::function<void(std::size_t, int)> tell_;
};

/// Keeps the CPU busy, in user code, until the condition holds; only preemption lets others run on
/// it.
template <typename Condition>
bool busy_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 1s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
  }
  return true;
}

}  // namespace rclrt_rclcpp::test
