// SPDX-License-Identifier: Apache-2.0
// A callback replaces, moves or waits for entities while other callbacks of its node run.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <test_msgs/srv/basic_types.hpp>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using Service = test_msgs::srv::BasicTypes;

template <typename E>
class Moves : public Ros {};
TYPED_TEST_SUITE(Moves, AllExecutors, ExecutorName);

/// Expects that no message is lost: three messages wait for a subscription that `replace` removes,
/// in a callback that runs before them.
template <typename E>
void nothing_is_lost(
    const std::function<void(E&, const rclcpp::Node::SharedPtr&,
                             const rclcpp::SubscriptionBase::SharedPtr&)>& replace) {
  E executor(on_one_cpu());
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Message>("topic", 10);
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  std::atomic<int> got{0};
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](const Message&) { ++got; }, options);
  std::atomic<bool> replaced{false};
  const auto timer = node->create_wall_timer(10ms, [&] {
    if (!replaced) {
      for (int i = 0; i < 3; ++i) {
        publisher->publish(Message());
      }
      replace(executor, node, subscription);
      replaced = true;
    }
  });
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return replaced && got == 3; })) << got;
  publisher->publish(Message());
  EXPECT_TRUE(eventually([&] { return got == 4; })) << got;
}

TYPED_TEST(Moves, ADeadlineThatACallbackSetsLosesNoMessage) {
  nothing_is_lost<TypeParam>([](TypeParam& executor, const auto&, const auto& subscription) {
    executor.set_timing(subscription, {.deadline = 50ms});
  });
}

TYPED_TEST(Moves, ANodeThatACallbackTakesOutAndPutsBackLosesNoMessage) {
  nothing_is_lost<TypeParam>([](TypeParam& executor, const auto& node, const auto&) {
    executor.remove_node(node);
    executor.add_node(node);
  });
}

/// Moves a node in a callback of an exclusive group from one executor to another, and continues
/// there while that one runs another node: the other callback of its node must not run meanwhile.
template <typename First, typename Second>
void members_stay_apart() {
  First first;
  Second second;
  const auto resident = std::make_shared<rclcpp::Node>("resident");
  std::atomic<int> ticks{0};
  const auto ticking = resident->create_wall_timer(1ms, [&] { ++ticks; });
  second.add_node(resident);
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<bool> moved{false};
  std::atomic<bool> inside{false};
  std::atomic<int> overlaps{0};
  std::atomic<int> after{0};
  const auto mover = node->create_wall_timer(10ms, [&] {
    if (moved) {
      return;
    }
    inside = true;
    first.remove_node(node);
    // An executor of rclcpp releases the group a little later, without a notification.
    const auto group = node->get_node_base_interface()->get_default_callback_group();
    EXPECT_TRUE(eventually([&] { return !group->get_associated_with_executor_atomic(); }));
    second.add_node(node);
    moved = true;
    EXPECT_TRUE(eventually([&, before = ticks.load()] { return ticks > before + 50; }));
    inside = false;
  });
  const auto other = node->create_wall_timer(1ms, [&] {
    overlaps += inside ? 1 : 0;
    after += moved ? 1 : 0;
  });
  first.add_node(node);
  const Spinning one(first);
  const Spinning two(second);
  EXPECT_TRUE(eventually([&] { return after > 10; }));
  EXPECT_EQ(overlaps, 0);
}

TYPED_TEST(Moves, MembersOfAGroupStayApartWhenACallbackMovesItOn) {
  members_stay_apart<TypeParam, TypeParam>();
}

TYPED_TEST(Moves, AlsoToAnExecutorOfRclcpp) {
  members_stay_apart<TypeParam, rclcpp::executors::SingleThreadedExecutor>();
}

TYPED_TEST(Moves, AlsoFromAnExecutorOfRclcpp) {
  members_stay_apart<rclcpp::executors::MultiThreadedExecutor, TypeParam>();
}

template <typename E>
bool has_callbacks_of(E& executor, const std::string& node) {
  const std::vector<CallbackInfo> callbacks = executor.callbacks();
  return std::any_of(callbacks.begin(), callbacks.end(),
                     [&](const CallbackInfo& each) { return each.node == node; });
}

TYPED_TEST(Moves, WhatIsMadeWhileARemovalWaitsIsRun) {
  if (!kHasWorkers<TypeParam>) {
    GTEST_SKIP() << "has no second thread for callbacks of one group or priority";
  }
  Options options;
  options.engine.workers_per_level = 2;
  TypeParam executor(options);
  const auto busy = std::make_shared<rclcpp::Node>("busy");
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  std::vector<rclcpp::TimerBase::SharedPtr> made;
  std::array<std::atomic<bool>, 2> ran{};
  const auto timer = busy->create_wall_timer(1ms, [&] {
    if (!begun.exchange(true)) {
      EXPECT_TRUE(eventually([&] { return !has_callbacks_of(executor, "/busy"); }));
      for (std::size_t i = 0; i < 2; ++i) {
        made.push_back(node->create_wall_timer(1ms, [&ran = ran[i]] { ran = true; }));
        EXPECT_TRUE(eventually([&] { return ran[i].load(); })) << i;
      }
      ended = true;
    }
  });
  executor.add_node(busy);
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  executor.remove_node(busy);  // waits for the callback
  EXPECT_TRUE(ended);
}

/// Made for wait sets only.
class Mute final : public WithoutWaitSet {
 public:
  void set_on_ready_callback(std::function<void(std::size_t, int)>) override {
    throw std::runtime_error("for wait sets only");
  }
  void clear_on_ready_callback() override { throw std::runtime_error("there is none"); }
  void execute(const std::shared_ptr<void>&) override {}
};

TYPED_TEST(Moves, AnEntityThatCannotTellOfItsWorkLeavesTheOthersAlone) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto mute = std::make_shared<Mute>();
  node->get_node_waitables_interface()->add_waitable(mute, nullptr);
  std::atomic<int> ticks{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++ticks; });
  executor.add_node(node);
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return ticks > 3; }));
  executor.remove_node(node);
}

TYPED_TEST(Moves, ACallbackHasTheStackOfTheProcess) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<bool> ran{false};
  const auto timer = node->create_wall_timer(1ms, [&] {
    volatile char large[4 << 20];  // all of the 8 MiB are touched
    for (std::size_t i = 0; i < sizeof(large); i += 4096) {
      large[i] = 1;
    }
    ran = true;
  });
  executor.add_node(node);
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
}

}  // namespace
}  // namespace rclrt_rclcpp::test
