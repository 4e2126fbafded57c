// SPDX-License-Identifier: Apache-2.0
// Known problems of other executors: shutdown, removal and overload at the wrong moment, and a
// callback that waits for an event that it prevents itself.
#include <atomic>
#include <string>
#include <test_msgs/srv/basic_types.hpp>
#include <vector>

#include "fixture.hpp"
#include "log.hpp"

namespace rclrt_rclcpp::test {
namespace {

using Service = test_msgs::srv::BasicTypes;

template <typename E>
class Hazards : public Ros {};
TYPED_TEST_SUITE(Hazards, AllExecutors, ExecutorName);

/// Returns the warnings of an executor with a timer callback that waits for a response of a client
/// in `group`, once they contain `advice` (or after a timeout).
template <typename E>
std::string warnings_of_a_wait_for_a_response(E& executor, const rclcpp::Node::SharedPtr& node,
                                              const rclcpp::CallbackGroup::SharedPtr& group,
                                              const std::string& advice) {
  const auto other = std::make_shared<rclcpp::Node>("other");
  const auto service = other->create_service<Service>(
      "service", [](std::shared_ptr<Service::Request>, std::shared_ptr<Service::Response>) {});
  const auto client = node->create_client<Service>("service", rclcpp::ServicesQoS(), group);
  std::atomic<bool> waiting{false};
  std::atomic<bool> give_up{false};
  const auto timer = node->create_wall_timer(1ms, [&] {
    if (waiting.exchange(true)) {
      return;
    }
    const auto future = client->async_send_request(std::make_shared<Service::Request>());
    while (!give_up && future.wait_for(1ms) != std::future_status::ready) {
    }
  });
  executor.add_node(node);
  rclcpp::executors::SingleThreadedExecutor of_others;
  of_others.add_node(other);
  const Spinning also(of_others);
  EXPECT_TRUE(client->wait_for_service(20s));
  const Log log;
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return Log::all().find(advice) != std::string::npos; }))
      << Log::all();
  give_up = true;
  return Log::all();
}

TYPED_TEST(Hazards, ACallbackThatWaitsForAResponseOfItsOwnGroupIsNamed) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const std::string warnings = warnings_of_a_wait_for_a_response(
      executor, node, nullptr, "in the same mutually exclusive callback group");
  EXPECT_NE(warnings.find("'/node client /service' waits for '/node timer 0'"), std::string::npos)
      << warnings;
}

/// Expects the warning for a callback that waits for a response on the only worker, whatever the
/// priorities.
template <typename E>
void expect_the_only_worker_is_named(const std::string& advice) {
  Options options;
  options.engine.preemption = engine::Preemption::kNever;
  options.engine.workers_per_level = 1;
  E executor(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto apart = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  executor.set_priority(apart, 5);
  warnings_of_a_wait_for_a_response(executor, node, apart, advice);
}

class HazardsWithoutPreemption : public Ros {};

TEST_F(HazardsWithoutPreemption, ACallbackThatWaitsForAResponseOnTheOnlyWorkerIsNamed) {
  expect_the_only_worker_is_named<PicasExecutor>("let the executor have more");
  expect_the_only_worker_is_named<EdfExecutor>("give the client an executor of its own");
}

/// Returns whether a callback that waits for the response of another node of its executor gets it.
template <typename E>
bool is_answered(const Options& options, const Timing& of_the_wait, const Timing& of_the_answer) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto other = std::make_shared<rclcpp::Node>("other");
  const auto service = other->create_service<Service>(
      "service", [](std::shared_ptr<Service::Request>, std::shared_ptr<Service::Response>) {});
  const auto apart = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto client = node->create_client<Service>("service", rclcpp::ServicesQoS(), apart);
  EXPECT_TRUE(client->wait_for_service(20s));
  std::promise<bool> answered;
  rclcpp::TimerBase::SharedPtr timer;
  timer = node->create_wall_timer(1ms, [&] {
    timer->cancel();
    const auto future = client->async_send_request(std::make_shared<Service::Request>());
    answered.set_value(future.wait_for(20s) == std::future_status::ready);
  });
  E executor(options);
  executor.set_timing(timer, of_the_wait);
  executor.set_timing(client, of_the_answer);
  executor.set_timing(service, of_the_answer);
  executor.add_node(node);
  executor.add_node(other);
  const Spinning spinning(executor);
  std::future<bool> result = answered.get_future();
  return result.wait_for(60s) == std::future_status::ready && result.get();
}

class HazardsWithPreemption : public Ros {};

TEST_F(HazardsWithPreemption, AnotherWorkerOrWhatIsMoreUrgentAnswersACallbackThatWaits) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  Options two = on_one_cpu();
  two.engine.workers_per_level = 2;
  EXPECT_TRUE(is_answered<PreemptiveExecutor>(two, {}, {}));
  EXPECT_TRUE(is_answered<ProducerConsumerExecutor>(two, {}, {}));
  Options one = on_one_cpu();
  one.engine.workers_per_level = 1;
  EXPECT_TRUE(is_answered<PreemptiveExecutor>(one, {.priority = 1}, {.priority = 2}));
  EXPECT_TRUE(is_answered<ProducerConsumerExecutor>(one, {.priority = 1}, {.priority = 2}));
  EXPECT_TRUE(is_answered<ThreadDispatchExecutor>(on_one_cpu(), {}, {}));
  EXPECT_TRUE(is_answered<EdfExecutor>(on_one_cpu(), {.deadline = 1h}, {.deadline = 1s}));
}

TEST_F(HazardsWithoutPreemption, AnotherWorkerAnswersACallbackThatWaits) {
  Options two = on_one_cpu();
  two.engine.preemption = engine::Preemption::kNever;
  two.engine.workers_per_level = 2;
  EXPECT_TRUE(is_answered<PreemptiveExecutor>(two, {}, {}));
  EXPECT_TRUE(is_answered<ThreadDispatchExecutor>(two, {}, {}));
}

TYPED_TEST(Hazards, AShutdownWhileCallbacksRunIsClean) {
  rclcpp::shutdown();
  for (int round = 0; round < 20; ++round) {
    rclcpp::init(0, nullptr);
    std::atomic<int> runs{0};
    {
      TypeParam executor;
      const auto node = std::make_shared<rclcpp::Node>("node");
      const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
      std::vector<rclcpp::TimerBase::SharedPtr> timers;
      for (int i = 0; i < 4; ++i) {
        timers.push_back(node->create_wall_timer(500us, [&] { ++runs; }, group));
      }
      const auto publisher = node->create_publisher<Message>("topic", 10);
      const auto subscription = node->create_subscription<Message>(
          "topic", 10, [&](const Message& message) { publisher->publish(message); });
      executor.add_node(node);
      std::thread spinner([&] { executor.spin(); });
      publisher->publish(Message());
      EXPECT_TRUE(eventually([&] { return runs > 20; }));
      rclcpp::shutdown();
      spinner.join();
    }
    const int at_end = runs;
    std::this_thread::sleep_for(1ms);  // a thread that is left behind would run a timer meanwhile
    ASSERT_EQ(runs, at_end);
  }
  rclcpp::init(0, nullptr);
}

TYPED_TEST(Hazards, EntitiesComeAndGoWhileTheyAreReady) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Message>("topic", 10);
  executor.add_node(node);
  std::atomic<bool> stop{false};
  std::atomic<int> runs{0};
  const Spinning spinning(executor);
  std::thread sender([&] {
    while (!stop) {
      publisher->publish(Message());
      std::this_thread::sleep_for(100us);
    }
  });
  for (int round = 0; round < 60; ++round) {
    const int before = runs;
    auto subscription =
        node->create_subscription<Message>("topic", 10, [&](const Message&) { ++runs; });
    auto timer = node->create_wall_timer(200us, [&] { ++runs; });
    EXPECT_TRUE(eventually([&] { return runs > before + 2; }));
    if (round % 3 == 0) {
      executor.remove_node(node);  // with all that is ready
      executor.add_node(node);
    }
    subscription.reset();
    timer.reset();
  }
  stop = true;
  sender.join();
}

TYPED_TEST(Hazards, AMessageMayFindItsSubscriptionGone) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Message>("topic", 10);
  std::atomic<int> runs{0};
  const auto on_message = [&](const Message&) { ++runs; };
  auto ends = node->create_subscription<Message>("topic", 10, on_message);
  const auto stays = node->create_subscription<Message>("topic", 10, on_message);
  executor.add_node(node);
  const Spinning spinning(executor);
  publisher->publish(Message());
  EXPECT_TRUE(eventually([&] { return runs == 2; }));
  // Like a running QoS event: the middleware's subscription continues to exist.
  const auto handle = ends->get_subscription_handle();
  ends.reset();
  for (int sent = 1; sent <= 10; ++sent) {
    publisher->publish(Message());
    EXPECT_TRUE(eventually([&] { return runs == 2 + sent; }));
  }
}

TYPED_TEST(Hazards, ACallbackMayAddAndRemoveNodesOfItsExecutor) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::shared_ptr<rclcpp::Node> child;
  // Not released in a callback, because a callback of these nodes may still run on another thread.
  std::vector<std::shared_ptr<rclcpp::Node>> removed;
  std::atomic<int> rounds{0};
  std::atomic<int> child_runs{0};
  rclcpp::TimerBase::SharedPtr child_timer;
  int before = 0;
  const auto timer = node->create_wall_timer(1ms, [&] {
    if (child && child_runs == before) {
      return;  // it was not run
    }
    before = child_runs;
    if (rounds > 20) {
      return;
    }
    if (child) {
      executor.remove_node(child);
      child_timer.reset();
      removed.push_back(std::move(child));
      ++rounds;
    } else {
      child = std::make_shared<rclcpp::Node>("child_" + std::to_string(rounds));
      child_timer = child->create_wall_timer(1ms, [&] { ++child_runs; });
      executor.add_node(child);
    }
  });
  executor.add_node(node);
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return rounds > 10 && child_runs > 10; }));
}

TYPED_TEST(Hazards, AnExecutorMayEndBeforeItsNodesAndAfterThem) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Message>("topic", 10);
  std::atomic<int> got{0};
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](const Message&) { ++got; });
  const auto timer = node->create_wall_timer(1ms, [&] { ++got; });
  {
    TypeParam executor;
    executor.add_node(node);
  }
  publisher->publish(Message());  // without a listener
  timer->reset();
  auto executor = std::make_unique<TypeParam>();
  auto temporary = std::make_shared<rclcpp::Node>("temporary");
  executor->add_node(temporary);
  temporary.reset();
  executor->spin_some();
  executor.reset();
}

TYPED_TEST(Hazards, WhatTheUserLetsGoOfAfterASpinEndsAtOnce) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  executor.add_node(node);
  std::vector<rclcpp::TimerBase::SharedPtr> others;  // so that a scan takes long
  for (int i = 0; i < 50; ++i) {
    others.push_back(node->create_wall_timer(1h, [] {}));
  }
  for (int round = 0; round < 400; ++round) {
    auto subscription = node->create_subscription<Message>("topic", 10, [](const Message&) {});
    executor.spin_some();
    const auto timer = node->create_wall_timer(1h, [] {});  // the executor is notified of it
    // At a different moment of its threads' work in each round.
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(round);
    while (std::chrono::steady_clock::now() < moment) {
    }
    const std::weak_ptr<rclcpp::SubscriptionBase> ended = subscription;
    subscription.reset();
    ASSERT_TRUE(ended.expired()) << "round " << round;
  }
}

TYPED_TEST(Hazards, UnderOverloadNothingStarvesForGood) {
  TypeParam executor(on_one_cpu());
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto high = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  std::atomic<int> runs{0};
  // More work than time, on one CPU: the timer skips releases.
  const auto timer = node->create_wall_timer(
      1ms,
      [&] {
        const auto end = std::chrono::steady_clock::now() + 2ms;
        while (std::chrono::steady_clock::now() < end) {
        }
        if (++runs == 50) {
          executor.cancel();
        }
      },
      high);
  executor.add_node(node);
  executor.set_priority(timer, 5);
  executor.spin();
  EXPECT_GE(runs, 50);
}

}  // namespace
}  // namespace rclrt_rclcpp::test
