// SPDX-License-Identifier: Apache-2.0
// One scenario under any executor: the arrivals are the same, the order of execution differs.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "all_executors.hpp"

namespace rclrt::executor::test {

using Order = std::vector<std::string>;

/// A scenario on one CPU. Every callback logs its name when it starts.
class Scenario {
 public:
  explicit Scenario(std::string_view kind) : executor_(make(kind, on_one_cpu(), &source_)) {}

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

  /// Adds a message for `callback`.
  void arrive(TestCallback* callback) {
    if (source_ != nullptr) {
      source_->add_message(*callback);
    } else {
      callback->release_now();
    }
  }

  void note(const std::string& event) { events_.push_back(event); }

  /// Keeps the calling callback busy until `other` has run, which must preempt it. Under wait_set,
  /// which never preempts, it is busy only for a while.
  void stay_busy_for(const TestCallback& other) {
    if (source_ != nullptr) {
      busy_for(1'000'000);
    } else {
      busy_until([&] { return other.counters().completed > 0; });
    }
  }

  /// Returns the names of the callbacks that ran, in order. First runs `start`, as a callback that
  /// is more urgent than all; the spin ends after `callbacks` more.
  Order run(std::size_t callbacks, std::function<void()> start) {
    TestCallback* const first = add("start", 1000, EntityType::kWaitable, [&] { start(); });
    for (const auto& each : all_) {
      executor_->add(each);
    }
    executor_->prepare();
    arrive(first);
    std::thread watch([&] {  // not spin_some, which may end while a callback waits to be preempted
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
  std::unique_ptr<Executor> executor_;
  std::vector<std::shared_ptr<TestCallback>> all_;
  std::shared_ptr<TestTimer> timer_;
  EventLog events_;
};

/// Client, service and subscription get a message in this order; then a timer is released.
inline Order order_of_types(std::string_view kind) {
  Scenario scenario(kind);
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

/// Sends the first message to the callback that was registered second.
inline Order order_of_registration(std::string_view kind) {
  Scenario scenario(kind);
  auto* const first = scenario.add("registered first");
  auto* const second = scenario.add("registered second");
  return scenario.run(2, [&] {
    scenario.arrive(second);
    scenario.arrive(first);
  });
}

/// Two messages for a, then two for b.
inline Order order_of_instances(std::string_view kind) {
  Scenario scenario(kind);
  auto* const a = scenario.add("a");
  auto* const b = scenario.add("b");
  return scenario.run(4, [&] {
    for (auto* const callback : {a, a, b, b}) {
      scenario.arrive(callback);
    }
  });
}

/// Two callbacks are ready. While the first runs, an urgent one becomes ready.
inline Order order_in_the_window(std::string_view kind) {
  Scenario scenario(kind);
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

/// An urgent callback becomes ready while another one runs.
inline Order order_while_one_runs(std::string_view kind) {
  Scenario scenario(kind);
  TestCallback* urgent = nullptr;
  auto* const low = scenario.add("low", 1, EntityType::kSubscription, [&] {
    scenario.arrive(urgent);
    scenario.stay_busy_for(*urgent);
    scenario.note("low ends");
  });
  urgent = scenario.add("urgent", 9);
  return scenario.run(2, [&] { scenario.arrive(low); });
}

/// Three callbacks become ready together. They are registered in another order than that of their
/// priorities.
inline Order order_of_priorities(std::string_view kind) {
  Scenario scenario(kind);
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
