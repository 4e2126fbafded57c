// SPDX-License-Identifier: Apache-2.0
// One course of events under any executor: what arrives is the same, what runs when differs.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "all_executors.hpp"

namespace rclrt::executor::test {

using Order = std::vector<std::string>;

/// On one CPU. Every callback notes its name when it starts.
template <typename E>
class Scenario {
 public:
  Scenario() {
    if constexpr (std::is_same_v<E, WaitSetExecutor>) {
      auto readiness = std::make_unique<FakeReadiness>();
      source_ = readiness.get();
      executor_ = std::make_unique<E>(on_one_cpu(), std::move(readiness));
    } else {
      executor_ = std::make_unique<E>(on_one_cpu());
    }
  }

  /// Callbacks are registered in the order of these calls.
  TestCallback* add(const std::string& name, int level = 0,
                    EntityType type = EntityType::kSubscription, std::function<void()> body = {}) {
    all_.push_back(std::make_shared<TestCallback>(
        CallbackOptions{.name = name, .type = type, .level = level},
        [this, name, index = all_.size(), body = std::move(body)](const InstanceInfo&) {
          if (source_ != nullptr) {
            source_->take_message(*all_[index]);
          }
          note(name);
          if (body) {
            body();
          }
        }));
    return all_.back().get();
  }

  /// Adds a timer that is released once, now.
  void release_timer(const std::string& name) {
    timer_ =
        std::make_shared<TestTimer>(timer_named(name), TimerOptions{.period_ns = 3'600'000'000'000},
                                    [this, name](const InstanceInfo&) { note(name); });
    executor_->add(timer_);
  }

  /// A message for it.
  void arrive(TestCallback* callback) {
    if (source_ != nullptr) {
      source_->add_message(*callback);
    } else {
      callback->release_now();
    }
  }

  void note(const std::string& event) { events_.push_back(event); }

  /// In a callback: until `other` has run, which has to preempt it for that. wait_set preempts
  /// nobody: there only for a while.
  void stay_busy_for(const TestCallback& other) {
    if constexpr (std::is_same_v<E, WaitSetExecutor>) {
      busy_for(1'000'000);
    } else {
      busy_until([&] { return other.counters().completed > 0; });
    }
  }

  /// What ran, in order. The first callback to run, more urgent than all, is `start`; the spin ends
  /// after `callbacks` more.
  Order run(std::size_t callbacks, std::function<void()> start) {
    TestCallback* const first = add("start", 1000, EntityType::kWaitable, [&] { start(); });
    for (const auto& each : all_) {
      executor_->add(each);
    }
    executor_->prepare();
    arrive(first);
    std::thread watch([&] {  // not spin_some: it may end while a callback waits to be preempted
      for (std::size_t ended = 0; ended < callbacks + 1;) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ended = timer_ ? timer_->counters().completed : 0;
        for (const auto& each : all_) {
          ended += each->counters().completed;
        }
      }
      executor_->cancel();
    });
    executor_->spin();
    watch.join();
    Order order = events_.events();
    order.erase(order.begin());
    return order;
  }

 private:
  FakeReadiness* source_ = nullptr;
  std::unique_ptr<E> executor_;
  std::vector<std::shared_ptr<TestCallback>> all_;
  std::shared_ptr<TestTimer> timer_;
  EventLog events_;
};

/// Client, service and subscription get a message in this order, and last a timer is released.
template <typename E>
Order order_of_types() {
  Scenario<E> scenario;
  auto* const client = scenario.add("client", 0, EntityType::kClient);
  auto* const service = scenario.add("service", 0, EntityType::kService);
  auto* const subscription = scenario.add("subscription", 0, EntityType::kSubscription);
  return scenario.run(4, [&] {
    scenario.arrive(client);
    scenario.arrive(service);
    scenario.arrive(subscription);
    scenario.release_timer("timer");
  });
}

/// The callback that was registered second gets its message first.
template <typename E>
Order order_of_registration() {
  Scenario<E> scenario;
  auto* const first = scenario.add("registered first");
  auto* const second = scenario.add("registered second");
  return scenario.run(2, [&] {
    scenario.arrive(second);
    scenario.arrive(first);
  });
}

/// Two messages for a, then two for b.
template <typename E>
Order order_of_instances() {
  Scenario<E> scenario;
  auto* const a = scenario.add("a");
  auto* const b = scenario.add("b");
  return scenario.run(4, [&] {
    for (auto* const callback : {a, a, b, b}) {
      scenario.arrive(callback);
    }
  });
}

/// Two callbacks are ready; in the first an urgent one becomes ready.
template <typename E>
Order order_in_the_window() {
  Scenario<E> scenario;
  TestCallback* urgent = nullptr;
  auto* const first = scenario.add("first", 1, EntityType::kSubscription, [&] {
    scenario.arrive(urgent);
    scenario.stay_busy_for(*urgent);
    scenario.note("first ends");
  });
  auto* const second = scenario.add("second", 1);
  urgent = scenario.add("urgent", 9);
  return scenario.run(3, [&] {
    scenario.arrive(first);
    scenario.arrive(second);
  });
}

/// While a callback runs an urgent one becomes ready.
template <typename E>
Order order_while_one_runs() {
  Scenario<E> scenario;
  TestCallback* urgent = nullptr;
  auto* const low = scenario.add("low", 1, EntityType::kSubscription, [&] {
    scenario.arrive(urgent);
    scenario.stay_busy_for(*urgent);
    scenario.note("low ends");
  });
  urgent = scenario.add("urgent", 9);
  return scenario.run(2, [&] { scenario.arrive(low); });
}

/// Three become ready together, registered in another order than that of their priorities.
template <typename E>
Order order_of_priorities() {
  Scenario<E> scenario;
  auto* const low = scenario.add("low", 1);
  auto* const high = scenario.add("high", 3);
  auto* const middle = scenario.add("middle", 2);
  return scenario.run(3, [&] {
    for (auto* const callback : {low, middle, high}) {
      scenario.arrive(callback);
    }
  });
}

}  // namespace rclrt::executor::test
