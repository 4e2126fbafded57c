// SPDX-License-Identifier: Apache-2.0
// What an executor cannot do leaves it, and what it runs, as they were.
#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

Options with_room_for_two_levels() {
  Options options;
  options.engine.top_priority = 3;
  return options;
}

/// An executor that runs a node, all of it at level 0; and another node, whose timers are given
/// levels of their own.
template <typename E>
class Refusals : public Ros {
 protected:
  Refusals() {
    executor.add_node(node);
    executor.set_priority(timers[0], 5);
    executor.set_priority(timers[1], 6);
  }

  /// Of the refused node.
  std::size_t callbacks_of_other() {
    const std::vector<CallbackInfo> callbacks = executor.callbacks();
    return static_cast<std::size_t>(
        std::count_if(callbacks.begin(), callbacks.end(),
                      [](const CallbackInfo& each) { return each.node == "/other"; }));
  }
  /// The node runs on, and nothing of the other does.
  void expect_that_only_the_node_runs() {
    const int ticks_before = ticks;
    const int runs_before = runs;
    EXPECT_TRUE(eventually([&] { return ticks > ticks_before + 2; }));
    EXPECT_EQ(runs, runs_before);
  }

  E executor{with_room_for_two_levels()};
  std::atomic<int> ticks{0};
  std::atomic<int> runs{0};
  rclcpp::Node::SharedPtr node = std::make_shared<rclcpp::Node>("node");
  rclcpp::TimerBase::SharedPtr timer = node->create_wall_timer(1ms, [this] { ++ticks; });
  rclcpp::Node::SharedPtr other = std::make_shared<rclcpp::Node>("other");
  rclcpp::CallbackGroup::SharedPtr group =
      other->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
  std::vector<rclcpp::TimerBase::SharedPtr> timers{
      other->create_wall_timer(1ms, [this] { ++runs; }),
      other->create_wall_timer(1ms, [this] { ++runs; })};
};
TYPED_TEST_SUITE(Refusals, ExecutorsOfLevels, ExecutorName);

TYPED_TEST(Refusals, ANodeThatIsRefusedIsNotTakenIn) {
  const Spinning spinning(this->executor);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(this->executor.add_node(this->other), std::invalid_argument);
    EXPECT_FALSE(this->other->get_node_base_interface()->get_associated_with_executor_atomic());
    EXPECT_EQ(this->callbacks_of_other(), 0U);
  }
  this->expect_that_only_the_node_runs();

  this->executor.set_priority(this->timers[1], 5);
  this->executor.add_node(this->other);
  EXPECT_TRUE(eventually([&] { return this->runs > 2; }));
}

TYPED_TEST(Refusals, AlsoInACallback) {
  std::atomic<bool> refused{false};
  rclcpp::TimerBase::SharedPtr adds;
  adds = this->node->create_wall_timer(1ms, [&] {
    adds->cancel();
    EXPECT_THROW(this->executor.add_node(this->other), std::invalid_argument);
    refused = true;
  });
  const Spinning spinning(this->executor);
  ASSERT_TRUE(eventually([&] { return refused.load(); }));
  this->expect_that_only_the_node_runs();
}

TYPED_TEST(Refusals, ARefusedNodeRunsInAnotherExecutor) {
  EXPECT_THROW(this->executor.add_node(this->other), std::invalid_argument);
  TypeParam second;
  second.add_node(this->other);
  EXPECT_TRUE(eventually([&] {
    second.spin_some();
    return this->runs > 2;
  }));
}

TYPED_TEST(Refusals, AGroupThatIsRefusedIsNotTakenIn) {
  for (int i = 0; i < 2; ++i) {
    this->timers.push_back(
        this->other->create_wall_timer(1ms, [this] { ++this->runs; }, this->group));
  }
  this->executor.set_priority(this->timers[2], 5);
  this->executor.set_priority(this->timers[3], 6);
  const Spinning spinning(this->executor);
  const auto add = [&] {
    this->executor.add_callback_group(this->group, this->other->get_node_base_interface());
  };
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(add(), std::invalid_argument);
    EXPECT_FALSE(this->group->get_associated_with_executor_atomic());
    EXPECT_EQ(this->callbacks_of_other(), 0U);
  }
  this->expect_that_only_the_node_runs();
  this->executor.set_priority(this->timers[3], 5);
  add();
  EXPECT_TRUE(eventually([&] { return this->runs > 2; }));
}

TYPED_TEST(Refusals, APriorityThatIsRefusedChangesNothing) {
  this->executor.set_priority(this->timers[1], 5);
  this->executor.add_node(this->other);
  const Spinning spinning(this->executor);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(this->executor.set_priority(this->timers[1], 6), std::invalid_argument);
    EXPECT_THROW(this->executor.set_timing(this->timers[1],
                                           {.priority = 6, .deadline = 5ms, .overload = {}}),
                 std::invalid_argument);
  }
  for (const CallbackInfo& each : this->executor.callbacks()) {
    EXPECT_NE(each.priority, 6) << each.node;
    EXPECT_EQ(each.deadline, 0ms) << each.node;
  }
  const int ticks_before = this->ticks;
  const int runs_before = this->runs;
  EXPECT_TRUE(
      eventually([&] { return this->ticks > ticks_before + 2 && this->runs > runs_before + 2; }));
}

}  // namespace
}  // namespace rclrt_rclcpp::test
