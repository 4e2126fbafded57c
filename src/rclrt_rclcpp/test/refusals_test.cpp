// SPDX-License-Identifier: Apache-2.0
// A refused change leaves the executor, and its callbacks, as they were.
#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Matches what throws because a third level was requested.
auto refuses_a_third_level() {
  return ThrowsMessage<std::invalid_argument>(
      HasSubstr("3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3"));
}

Options with_room_for_two_levels() {
  Options options;
  options.engine.top_priority = 3;
  return options;
}

/// An executor that runs a node, all of it at level 0; and another node with a level of its own for
/// each timer.
template <typename E>
class Refusals : public Ros {
 protected:
  void SetUp() override { RCLRT_SKIP_WITHOUT_REALTIME(); }  // otherwise any number of levels fits

  Refusals() {
    executor.add_node(node);
    executor.set_priority(timers[0], 5);
    executor.set_priority(timers[1], 6);
  }

  /// Returns the number of callbacks of the refused node.
  std::size_t callbacks_of_other() {
    const std::vector<CallbackInfo> callbacks = executor.callbacks();
    return static_cast<std::size_t>(
        std::count_if(callbacks.begin(), callbacks.end(),
                      [](const CallbackInfo& each) { return each.node == "/other"; }));
  }
  void expect_that_only_the_node_runs() {
    const int before = ticks;
    EXPECT_TRUE(eventually([&] { return ticks > before + 2; }));
    EXPECT_EQ(runs, 0);
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
    EXPECT_THAT([&] { this->executor.add_node(this->other); }, refuses_a_third_level());
    EXPECT_FALSE(this->other->get_node_base_interface()->get_associated_with_executor_atomic());
    EXPECT_EQ(this->callbacks_of_other(), 0U);
  }
  this->expect_that_only_the_node_runs();
}

TYPED_TEST(Refusals, OfWhatIsRefusedNoPriorityStaysTaken) {
  const Spinning spinning(this->executor);
  EXPECT_THAT([&] { this->executor.add_node(this->other); }, refuses_a_third_level());
  this->executor.set_priority(this->timers[0], 6);
  this->executor.add_node(this->other);
  EXPECT_TRUE(eventually([&] { return this->runs > 2; }));
}

TYPED_TEST(Refusals, ANodeMayBeRefusedInACallback) {
  std::atomic<bool> refused{false};
  rclcpp::TimerBase::SharedPtr adds;
  adds = this->node->create_wall_timer(1ms, [&] {
    adds->cancel();
    EXPECT_THAT([&] { this->executor.add_node(this->other); }, refuses_a_third_level());
    refused = true;
  });
  const Spinning spinning(this->executor);
  ASSERT_TRUE(eventually([&] { return refused.load(); }));
  this->expect_that_only_the_node_runs();
}

TYPED_TEST(Refusals, ARefusedNodeRunsInAnotherExecutor) {
  EXPECT_THAT([&] { this->executor.add_node(this->other); }, refuses_a_third_level());
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
    EXPECT_THAT([&] { add(); }, refuses_a_third_level());
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
    EXPECT_THAT([&] { this->executor.set_priority(this->timers[1], 6); }, refuses_a_third_level());
    EXPECT_THAT(
        [&] { this->executor.set_timing(this->timers[1], {.priority = 6, .deadline = 5ms}); },
        refuses_a_third_level());
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

/// A node that makes entities that do not fit only after its executor has it.
template <typename E>
class Misfits : public Refusals<E> {
 protected:
  Misfits() {
    this->executor.set_priority(this->timers[1], 5);
    this->executor.add_node(this->other);
    this->executor.set_priority(group_, 6);
  }
  void make_misfit() {
    misfit_ = this->node->create_wall_timer(1ms, [this] { ++misfit_runs_; }, group_);
  }

  rclcpp::Node::SharedPtr third = std::make_shared<rclcpp::Node>("third");
  std::atomic<int> got{0};
  rclcpp::Subscription<Message>::SharedPtr subscription =
      third->create_subscription<Message>("topic", 10, [this](const Message&) { ++got; });
  rclcpp::Publisher<Message>::SharedPtr publisher = third->create_publisher<Message>("topic", 10);
  std::atomic<int> misfit_runs_{0};
  rclcpp::CallbackGroup::SharedPtr group_ =
      this->node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);

 private:
  rclcpp::TimerBase::SharedPtr misfit_;
};
TYPED_TEST_SUITE(Misfits, ExecutorsOfLevels, ExecutorName);

TYPED_TEST(Misfits, EndTheSpinWhoeverSeesThemFirst) {
  std::atomic<bool> threw{false};
  std::thread spinning([&] {
    try {
      this->executor.spin();
    } catch (const std::invalid_argument&) {
      threw = true;
    }
  });
  EXPECT_TRUE(eventually([&] { return this->ticks > 2; }));
  this->make_misfit();
  EXPECT_GT(this->callbacks_of_other(), 0U);
  EXPECT_TRUE(eventually([&] { return threw.load(); }));
  this->executor.cancel();
  spinning.join();
}

TYPED_TEST(Misfits, AlsoEndASpinThatAlwaysFindsWork) {
  std::shared_ptr<Bell> bell;
  int rings = 0;
  bell = std::make_shared<Bell>([&] {
    bell->ring();
    if (++rings == 3) {
      this->make_misfit();
      this->executor.callbacks();
    }
  });
  this->node->get_node_waitables_interface()->add_waitable(bell, nullptr);
  this->executor.callbacks();
  bell->ring();
  EXPECT_THAT([&] { this->executor.spin_all(0s); }, refuses_a_third_level());
}

TYPED_TEST(Misfits, ANodeBesideThemIsRefusedAndMayGoElsewhere) {
  this->make_misfit();
  EXPECT_THAT([&] { this->executor.add_node(this->third); }, refuses_a_third_level());
  TypeParam second;
  second.add_node(this->third);
  this->executor.remove_node(this->other);  // entities that the first still had would end here
  ASSERT_TRUE(eventually([&] { return this->publisher->get_subscription_count() == 1; }));
  this->publisher->publish(Message());
  EXPECT_TRUE(eventually([&] {
    second.spin_some();
    return this->got == 1;
  }));
}

TYPED_TEST(Misfits, TheNodeThatHasThemCanBeRemovedAndTheRestRunsOn) {
  this->make_misfit();
  EXPECT_THAT([&] { this->executor.spin(); }, refuses_a_third_level());
  this->executor.remove_node(this->node);
  const int before = this->runs;
  EXPECT_TRUE(eventually([&] {
    this->executor.spin_some();
    return this->runs > before;
  }));
}

TYPED_TEST(Misfits, OrTheirPriorityIsChanged) {
  this->make_misfit();
  EXPECT_THAT([&] { this->executor.spin(); }, refuses_a_third_level());
  this->executor.set_priority(this->group_, 5);
  const Spinning spinning(this->executor);
  const int before = this->runs;
  EXPECT_TRUE(eventually([&] { return this->runs > before && this->misfit_runs_ > 0; }));
}

TYPED_TEST(Refusals, APriorityThatCallbacksHaveHadStaysInUse) {
  this->executor.set_priority(this->timers[1], 5);
  this->executor.add_node(this->other);
  this->executor.set_priority(this->timers[0], 0);
  this->executor.set_priority(this->timers[1], 0);
  EXPECT_THAT([&] { this->executor.set_priority(this->timers[1], 6); }, refuses_a_third_level());
  this->executor.set_priority(this->timers[1], 5);
}

TYPED_TEST(Refusals, WhatAnotherExecutorHasIsRefusedAndBothGoOn) {
  this->executor.set_priority(this->timers[1], 5);
  std::atomic<int> of_group{0};
  const auto of_other =
      this->other->create_wall_timer(1ms, [&of_group] { ++of_group; }, this->group);
  const auto base = this->other->get_node_base_interface();
  TypeParam second;
  second.add_node(this->other);
  second.add_callback_group(this->group, base);
  EXPECT_THAT([&] { this->executor.add_node(this->other); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("Node '/other' has already been added to an executor")));
  EXPECT_THAT(
      [&] { this->executor.add_callback_group(this->group, base); },
      ThrowsMessage<std::runtime_error>("Callback group has already been added to an executor."));
  const Spinning spinning(this->executor);
  const Spinning spinning_too(second);
  const int before = this->ticks;
  EXPECT_TRUE(
      eventually([&] { return this->ticks > before + 2 && this->runs > 2 && of_group > 2; }));
}

TYPED_TEST(Refusals, LeavesThePrioritiesOfThreadsAlone) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  std::atomic<int> priority{0};
  const auto tells = this->node->create_wall_timer(1ms, [&] {
    sched_param scheduling{};
    EXPECT_EQ(sched_getparam(0, &scheduling), 0);
    priority = scheduling.sched_priority;
  });
  const Spinning spinning(this->executor);
  ASSERT_TRUE(eventually([&] { return priority > 0; }));
  EXPECT_EQ(priority, 2);
  EXPECT_THAT([&] { this->executor.add_node(this->other); }, refuses_a_third_level());
  const int before = this->ticks;
  ASSERT_TRUE(eventually([&] { return this->ticks > before + 5; }));
  EXPECT_EQ(priority, 2);
}

}  // namespace
}  // namespace rclrt_rclcpp::test
