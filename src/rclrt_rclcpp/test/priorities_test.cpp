// SPDX-License-Identifier: Apache-2.0
// Priorities from code and from a file, and their effects.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <rclcpp_action/rclcpp_action.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <sstream>
#include <test_msgs/action/fibonacci.hpp>
#include <test_msgs/srv/empty.hpp>
#include <vector>

#include "fixture.hpp"
#include "priorities_file.hpp"

namespace rclrt_rclcpp::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two timers in groups of their own; the low one is busy until the high one has run.
class TwoTimers : public rclcpp::Node {
 public:
  TwoTimers() : Node("two") {
    low_group = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    high_group = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    low = create_wall_timer(
        5ms,
        [this] {
          const int before = high_runs;
          if (busy_until([&] { return high_runs > before; })) {
            ++preempted;
          }
          done = true;
        },
        low_group);
    high = create_wall_timer(1ms, [this] { ++high_runs; }, high_group);
  }

  rclcpp::CallbackGroup::SharedPtr low_group;
  rclcpp::CallbackGroup::SharedPtr high_group;
  rclcpp::TimerBase::SharedPtr low;
  rclcpp::TimerBase::SharedPtr high;
  std::atomic<int> high_runs{0};
  std::atomic<int> preempted{0};
  std::atomic<bool> done{false};
};

template <typename E>
class Preemption : public Ros {};
TYPED_TEST_SUITE(Preemption, ExecutorsOfLevels, ExecutorName);

TYPED_TEST(Preemption, AnUrgentTimerPreemptsABusyCallbackOnOneCpu) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  TypeParam executor(on_one_cpu());
  const auto node = std::make_shared<TwoTimers>();
  executor.add_node(node);
  executor.set_priority(node->high, 7);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return node->done.load(); }));
  EXPECT_GT(node->preempted, 0);
}

TYPED_TEST(Preemption, WithEqualPrioritiesItDoesNot) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  TypeParam executor([] {
    auto options = on_one_cpu();
    options.engine.workers_per_level = 1;
    return options;
  }());
  const auto node = std::make_shared<TwoTimers>();
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return node->done.load(); }));
  EXPECT_EQ(node->preempted, 0);
}

TEST_F(PrioritiesFile, TheMostSpecificWinsAndTheFileGoesBeforeCode) {
  Options options;
  options.priorities = write(R"(rclrt: 1
callbacks:
  - {node: /two, priority: 1}
  - {node: /two, group: 1, priority: 2}
  - {node: /two, group: 2, timer: 0, priority: 9}
)");
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<TwoTimers>();
  executor.add_node(node);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 2);
  EXPECT_EQ(priority_of(executor, "timer", "0", 2), 9);
  EXPECT_EQ(priority_of(executor, "service", "/two/get_parameters"), 1);
  executor.set_priority(node->high, 5);  // the file has 9
  executor.set_priority(node->low, 4);   // the file has only the group
  EXPECT_EQ(priority_of(executor, "timer", "0", 2), 9);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 4);
  EXPECT_TRUE(executor.unmatched().empty());
}

TEST_F(PrioritiesFile, NamesAreThoseOfTheGraph) {
  Options options;
  options.priorities = write(R"(rclrt: 1
callbacks:
  - {node: /front/lidar, subscription: /front/scan, priority: 4}
  - {node: /lidar, priority: 2}
)");
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<rclcpp::Node>(
      "node", rclcpp::NodeOptions().arguments({"--ros-args", "-r", "__ns:=/front", "-r",
                                               "__node:=lidar", "-r", "points:=scan"}));
  const auto subscription = node->create_subscription<Message>("points", 10, [](const Message&) {});
  executor.add_node(node);
  EXPECT_EQ(priority_of(executor, "subscription", "/front/scan"), 4);
  const std::vector<std::string> unmatched = executor.unmatched();
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_NE(unmatched.front().find(":4: nothing fits node /lidar"), std::string::npos)
      << unmatched.front();
}

TEST_F(PrioritiesFile, OfEntriesWithAndWithoutItsGroupTheLaterOneHolds) {
  const std::string with = "  - {node: /node, group: 0, subscription: /topic, priority: 1}\n";
  const std::string without = "  - {node: /node, subscription: /topic, priority: 2}\n";
  for (const bool with_comes_last : {true, false}) {
    Options options;
    options.priorities =
        write("rclrt: 1\ncallbacks:\n" + (with_comes_last ? without + with : with + without));
    PreemptiveExecutor executor(options);
    const auto node = std::make_shared<rclcpp::Node>("node");
    const auto subscription =
        node->create_subscription<Message>("topic", 10, [](const Message&) {});
    executor.add_node(node);
    EXPECT_EQ(priority_of(executor, "subscription", "/topic"), with_comes_last ? 1 : 2);
  }
}

TEST_F(PrioritiesFile, ALifecycleNodeHasAPriorityAsEveryNode) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp_lifecycle::LifecycleNode>("managed");
  const auto timer = node->create_wall_timer(1s, [] {});
  executor.add_node(node->get_node_base_interface());
  executor.set_priority(node, 3);
  EXPECT_EQ(priority_of(executor, "timer", "0"), 3);
  EXPECT_EQ(priority_of(executor, "service", "/managed/change_state"), 3);
  executor.set_timing(node, {.priority = 4, .deadline = 5ms});
  EXPECT_EQ(priority_of(executor, "timer", "0"), 4);
  EXPECT_THAT([&] { executor.set_priority(std::shared_ptr<rclcpp::Node>(), 1); },
              ThrowsMessage<std::invalid_argument>(
                  "set_timing: expected an entity, a group or a node, not nullptr"));
}

TEST_F(PrioritiesFile, SimulatedTimeMovesNoNumbers) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp::Node>(
      "node", rclcpp::NodeOptions().append_parameter_override("use_sim_time", true));
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto timer = node->create_wall_timer(1s, [] {}, group);
  executor.add_node(node);
  executor.set_priority(group, 4);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 4);
}

TEST_F(PrioritiesFile, TheNumberOfAGroupStaysWhenAnotherEnds) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  auto first = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto second = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto timer = node->create_wall_timer(1s, [] {}, second);
  executor.add_node(node);
  executor.set_priority(timer, 9);
  EXPECT_EQ(priority_of(executor, "timer", "0", 2), 9);
  first.reset();
  EXPECT_EQ(priority_of(executor, "timer", "0", 2), 9);
}

TEST_F(PrioritiesFile, TheTimerOfAnActionServerIsNotOneOfTheUsers) {
  using Fibonacci = test_msgs::action::Fibonacci;
  using Goal = rclcpp_action::ServerGoalHandle<Fibonacci>;
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto server = rclcpp_action::create_server<Fibonacci>(
      node, "fibonacci",
      [](const rclcpp_action::GoalUUID&, std::shared_ptr<const Fibonacci::Goal>) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](std::shared_ptr<Goal>) { return rclcpp_action::CancelResponse::ACCEPT; },
      [](std::shared_ptr<Goal>) {});
  executor.add_node(node);
  const auto timer = node->create_wall_timer(1s, [] {});
  executor.set_priority(timer, 9);
  EXPECT_EQ(priority_of(executor, "timer", "0"), 9);
}

TEST_F(PrioritiesFile, WhatFitsNothingIsReported) {
  Options options;
  options.priorities = write(R"(rclrt: 1
callbacks:
  - {node: /two, timer: 3, priority: 1}
  - {node: /nobody, priority: 2}
)");
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<TwoTimers>();
  executor.add_node(node);
  const auto unmatched = executor.unmatched();
  ASSERT_EQ(unmatched.size(), 2U);
  EXPECT_NE(unmatched[0].find(":3: nothing fits node /two, group 0, timer 3"), std::string::npos)
      << unmatched[0];
  EXPECT_NE(unmatched[1].find(":4: nothing fits node /nobody"), std::string::npos);
}

TEST_F(PrioritiesFile, AMistakeIsNamedWithItsPlaceAndNothingIsMade) {
  Options options;
  options.priorities = write("rclrt: 1\ncallbacks:\n  - {node: two, priority: 1}\n");
  try {
    const PreemptiveExecutor executor(options);
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(":3:12: node is 'two'"), std::string::npos)
        << error.what();
  }
}

TEST_F(PrioritiesFile, WhatIsWrittenIsReadAndChangesNothing) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<TwoTimers>();
  executor.add_node(node);
  executor.set_timing(node->high, {.priority = 7, .deadline = 1ms});
  executor.set_timing(
      node->low, {.priority = 3, .deadline = 5ms, .overload = engine::Overload::kSkipIfRunning});
  std::ostringstream written;
  executor.write_priorities(written);
  Options options;
  options.priorities = write(written.str());
  executor.remove_node(node);
  PreemptiveExecutor other(options);
  other.add_node(node);
  EXPECT_TRUE(other.unmatched().empty());
  std::ostringstream again;
  other.write_priorities(again);
  EXPECT_EQ(again.str(), written.str());
  EXPECT_NE(written.str().find("timer: 0, priority: 7, deadline_ms: 1.000000"), std::string::npos)
      << written.str();
}

TEST_F(PrioritiesFile, AnExecutorWithoutCallbacksWritesAFileThatIsRead) {
  PreemptiveExecutor executor;
  std::ostringstream written;
  executor.write_priorities(written);
  EXPECT_EQ(written.str(), "rclrt: 1\ncallbacks: []\n");
  Options options;
  options.priorities = write(written.str());
  EXPECT_TRUE(PreemptiveExecutor(options).unmatched().empty());
}

TEST_F(PrioritiesFile, TheCallbacksOfEveryNodeAreWrittenLast) {
  PreemptiveExecutor executor;
  const auto first = std::make_shared<rclcpp::Node>("a");
  const auto second = std::make_shared<rclcpp::Node>("b");
  const auto service = second->create_service<test_msgs::srv::Empty>(
      "~/reset", [](const test_msgs::srv::Empty::Request::SharedPtr&,
                    const test_msgs::srv::Empty::Response::SharedPtr&) {});
  executor.add_node(first);
  executor.add_node(second);
  std::ostringstream written;
  executor.write_priorities(written);
  const std::string text = written.str();
  EXPECT_EQ(text.find("rclrt: 1\ncallbacks:\n"
                      "  - {node: /b, group: 0, service: /b/reset, priority: 0}\n"
                      "  # Actions, and events of publishers and subscriptions"),
            0U)
      << text;
  const std::size_t last = text.find("  # Callbacks that rclcpp makes for every node");
  ASSERT_NE(last, std::string::npos) << text;
  for (const std::string each : {"service: /a/get_parameters", "subscription: /parameter_events"}) {
    EXPECT_EQ(text.find(each), text.find(each, last)) << text;
  }
  EXPECT_EQ(text.find("waitable", last), std::string::npos) << text;
}

TEST_F(PrioritiesFile, WhatComesWithinTheProcessHasThePriorityOfItsSubscription) {
  PreemptiveExecutor executor;
  const auto node =
      std::make_shared<rclcpp::Node>("node", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<int> level{-1};
  const auto subscription = node->create_subscription<Message>(
      "topic", 10, [&](const Message&) { level = rclrt::executor::current_instance()->level; });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  executor.add_node(node);
  executor.set_priority(rclcpp::SubscriptionBase::SharedPtr(subscription), 6);
  const Spinning spinning(executor);
  publisher->publish(std::make_unique<Message>());
  EXPECT_TRUE(eventually([&] { return level == 6; })) << level;
}

TEST_F(PrioritiesFile, AnOverloadPolicyThatAnEntityCannotHaveIsRefused) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto service = node->create_service<test_msgs::srv::Empty>(
      "service", [](std::shared_ptr<test_msgs::srv::Empty::Request>,
                    std::shared_ptr<test_msgs::srv::Empty::Response>) {});
  executor.add_node(node);
  EXPECT_THAT(
      [&] {
        executor.set_timing(rclcpp::ServiceBase::SharedPtr(service),
                            {.overload = engine::Overload::kKeepLast});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("leave `overload` at kQueue")));
}

TEST_F(PrioritiesFile, KeepLastRunsTheNewestOfWhatWaits) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::vector<int> got;
  const auto subscription = node->create_subscription<Message>(
      "topic", 10, [&](const Message& message) { got.push_back(message.int32_value); });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  executor.add_node(node);
  executor.set_timing(rclcpp::SubscriptionBase::SharedPtr(subscription),
                      {.overload = engine::Overload::kKeepLast});
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  Message message;
  for (message.int32_value = 1; message.int32_value <= 5; ++message.int32_value) {
    publisher->publish(message);
  }
  ASSERT_TRUE(eventually([&] {
    executor.spin_some();
    return !got.empty();
  }));
  executor.spin_some();
  EXPECT_EQ(got, std::vector<int>{5});
}

TEST_F(PrioritiesFile, ADeadlineThatIsMissedIsCountedAndReported) {
  struct Handler : engine::MissHandler {
    void missed(const engine::DeadlineMiss& miss) noexcept override {
      late = miss.late_ns() > 0;
      ++count;
    }
    std::atomic<int> count{0};
    std::atomic<bool> late{false};
  } handler;
  Options options;
  options.engine.on_miss = &handler;
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(10ms, [] { std::this_thread::sleep_for(3ms); });
  executor.add_node(node);
  executor.set_timing(timer, {.priority = 3, .deadline = 1ms});
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return handler.count > 1; }));
  EXPECT_TRUE(handler.late);
}

}  // namespace
}  // namespace rclrt_rclcpp::test
