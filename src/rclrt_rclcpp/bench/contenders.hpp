// SPDX-License-Identifier: Apache-2.0
// The executors that are compared, and the node that they run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <test_msgs/msg/basic_types.hpp>
#include <type_traits>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt_rclcpp/executors.hpp"

#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define RCLRT_HAS_EVENTS_CBG 1
#endif

namespace rclrt_rclcpp::bench {

using namespace std::chrono_literals;
using Message = test_msgs::msg::BasicTypes;
using rclrt::realtime::monotonic_now_ns;

constexpr std::int64_t kPeriod_ns = 1'000'000;
constexpr std::int64_t kBusy_ns = 10'000'000;

/// The results of one contender in one round of a case.
struct Round {
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
  double lost_percent = 0;
  double cpu_us = 0;       // per release, of the whole process, the sender included
  double allocations = 0;  // the same
};

/// The node under test: an urgent callback in one group, the rest in another.
class Bench : public rclcpp::Node {
 public:
  Bench() : Node("bench") {
    urgent = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    rest = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    latencies_ns.reserve(1'000'000);
  }

  void add_timer() {
    timers.push_back(create_wall_timer(
        std::chrono::nanoseconds(kPeriod_ns),
        [this](const rclcpp::TimerInfo& info) {
          note(monotonic_now_ns() - info.expected_call_time.nanoseconds());
        },
        urgent));
  }
  void add_burner() {
    timers.push_back(create_wall_timer(
        20ms,
        [] {
          const std::int64_t end = monotonic_now_ns() + kBusy_ns;
          while (monotonic_now_ns() < end) {
          }
        },
        rest));
  }
  void add_subscription() {
    rclcpp::SubscriptionOptions options;
    options.callback_group = urgent;
    subscription = create_subscription<Message>(
        "bench", 100,
        [this](const Message& message) { note(monotonic_now_ns() - message.int64_value); },
        options);
    publisher = create_publisher<Message>("bench", 100);
  }
  void note(std::int64_t latency_ns) {
    if (measuring.load(std::memory_order_relaxed)) {
      latencies_ns.push_back(latency_ns);
    }
  }

  rclcpp::CallbackGroup::SharedPtr urgent;
  rclcpp::CallbackGroup::SharedPtr rest;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  rclcpp::Subscription<Message>::SharedPtr subscription;
  rclcpp::Publisher<Message>::SharedPtr publisher;
  std::atomic<bool> measuring{false};
  std::vector<std::int64_t> latencies_ns;
};

inline bool g_realtime = false;
inline std::vector<int> g_cpus;

inline rclrt::realtime::ThreadOptions thread_at(const char* name, int priority) {
  rclrt::realtime::ThreadOptions options{.name = name};
  options.scheduling.cpus = g_cpus;
  if (g_realtime) {
    options.scheduling.policy = rclrt::realtime::Policy::kFifo;
    options.scheduling.priority = priority;
  }
  return options;
}

using Body = std::function<void()>;
struct Contender {
  const char* name;
  std::function<void(const std::shared_ptr<Bench>&, const Body&)> run;
};

/// Spins `executor` beside `body`.
inline void spin_beside(rclcpp::Executor& executor, int priority, const Body& body) {
  rclrt::realtime::Thread thread(thread_at("spin", priority), [&] { executor.spin(); });
  body();
  executor.cancel();
  thread.join();
}

/// Makes the executor in the thread that spins: its own threads are then scheduled in the same way.
template <typename E>
std::function<void(const std::shared_ptr<Bench>&, const Body&)> plain() {
  return [](const std::shared_ptr<Bench>& node, const Body& body) {
    std::promise<rclcpp::Executor*> made;
    std::promise<void> cancelled;
    rclrt::realtime::Thread thread(thread_at("spin", 80), [&] {
      E executor;
      executor.add_node(node);
      made.set_value(&executor);
      executor.spin();
      cancelled.get_future().wait();
      executor.remove_node(node);
    });
    rclcpp::Executor* const executor = made.get_future().get();
    body();
    executor->cancel();
    cancelled.set_value();
    thread.join();
  };
}

template <typename E>
std::function<void(const std::shared_ptr<Bench>&, const Body&)> ours() {
  return [](const std::shared_ptr<Bench>& node, const Body& body) {
    rclrt_rclcpp::Options options;
    options.engine.cpus = g_cpus;
    if (std::is_same_v<E, rclrt_rclcpp::EdfExecutor>) {
      options.engine.cpus.resize(1);
    }
    options.engine.top_priority = 81;  // the most urgent level is at 80
    E executor(options);
    executor.add_node(node);
    executor.set_priority(node->urgent, 2);
    executor.set_priority(node->rest, 1);
    if (std::is_same_v<E, rclrt_rclcpp::EdfExecutor>) {
      executor.set_timing(node->urgent, {.deadline = std::chrono::nanoseconds(kPeriod_ns)});
    }
    spin_beside(executor, 50, body);
    executor.remove_node(node);
  };
}

inline void split_pair(const std::shared_ptr<Bench>& node, const Body& body) {
  rclcpp::executors::SingleThreadedExecutor high;
  rclcpp::executors::SingleThreadedExecutor low;
  high.add_callback_group(node->urgent, node->get_node_base_interface());
  low.add_callback_group(node->rest, node->get_node_base_interface());
  spin_beside(high, 80, [&] { spin_beside(low, 70, body); });
  high.remove_callback_group(node->urgent);
  low.remove_callback_group(node->rest);
}

inline const std::vector<Contender>& contenders() {
  static const std::vector<Contender> kAll{
      {"rclcpp SingleThreaded", plain<rclcpp::executors::SingleThreadedExecutor>()},
      {"rclcpp MultiThreaded", plain<rclcpp::executors::MultiThreadedExecutor>()},
      {"rclcpp Events", plain<rclcpp::experimental::executors::EventsExecutor>()},
#ifdef RCLRT_HAS_EVENTS_CBG
      {"rclcpp EventsCBG", plain<rclcpp::executors::EventsCBGExecutor>()},
#endif
      {"two SingleThreaded at 80/70", split_pair},
      {"rclrt preemptive", ours<rclrt_rclcpp::PreemptiveExecutor>()},
      {"rclrt producer_consumer", ours<rclrt_rclcpp::ProducerConsumerExecutor>()},
      {"rclrt edf", ours<rclrt_rclcpp::EdfExecutor>()},
  };
  return kAll;
}

}  // namespace rclrt_rclcpp::bench
