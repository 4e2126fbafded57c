// SPDX-License-Identifier: Apache-2.0
// Groups of one node in different executors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "rclrt/realtime/scheduling.hpp"
#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std::chrono::milliseconds;
using std_msgs::msg::Int64;
using testing::HasSubstr;
using testing::ThrowsMessage;

class CallbackGroups : public EveryExecutor {
 protected:
  std::unique_ptr<Executor> named_executor(const std::string& name) {
    return make_executor(GetParam(), context, {.name = name});
  }

  std::shared_ptr<CallbackGroup> group_of_its_own(Node& node) {
    return node.create_callback_group(CallbackGroupType::kMutuallyExclusive, false);
  }
};
INSTANTIATE_TEST_SUITE_P(Every, CallbackGroups, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(CallbackGroups, GroupsOfOneNodeRunOnTheThreadsOfTheExecutorsThatTheyWereAddedTo) {
  Node node(context, "node");
  const auto high = group_of_its_own(node);
  const auto low = group_of_its_own(node);
  std::atomic<int> high_runs{0};
  std::atomic<int> low_runs{0};
  std::atomic<int> strangers{0};
  const auto count = [&](const std::string& executor, std::atomic<int>& runs) {
    strangers += realtime::thread_name(0).starts_with(executor) ? 0 : 1;
    ++runs;
  };
  const auto in_high = node.create_subscription<Int64>(
      "topic", 10, [&](const Int64&) { count("first", high_runs); }, {.group = high});
  const auto in_low = node.create_subscription<Int64>(
      "topic", 10, [&](const Int64&) { count("second", low_runs); }, {.group = low});
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 2; }));

  const auto first = named_executor("first");
  const auto second = named_executor("second");
  first->add_callback_group(high, node);
  second->add_callback_group(low, node);
  std::thread first_thread([&] { first->spin(); });
  std::thread second_thread([&] { second->spin(); });
  EXPECT_TRUE(eventually([&] {
    publisher->publish(Int64{});
    return high_runs >= 3 && low_runs >= 3;
  }));
  first->cancel();
  second->cancel();
  first_thread.join();
  second_thread.join();
  EXPECT_EQ(strangers, 0);
}

TEST_P(CallbackGroups, AddNodeLeavesOutAGroupThatIsAddedAlone) {
  Node node(context, "node");
  const auto alone = group_of_its_own(node);
  const auto with_node = node.create_callback_group();
  const auto first = node.create_wall_timer(milliseconds(1), [] {}, {.group = alone});
  const auto second = node.create_wall_timer(milliseconds(1), [] {}, {.group = with_node});
  const auto third = node.create_wall_timer(milliseconds(1), [] {});
  EXPECT_FALSE(node.is_added_with_node(*first));
  EXPECT_TRUE(node.is_added_with_node(*second));
  EXPECT_TRUE(node.is_added_with_node(*third));

  const auto spinner = executor();
  using Callbacks = std::vector<std::shared_ptr<executor::Callback>>;
  spinner->add_node(node);
  EXPECT_EQ(spinner->engine().callbacks(), (Callbacks{second, third}));
  spinner->add_callback_group(alone, node);
  spinner->add_callback_group(alone, node);  // callbacks that are already added stay
  EXPECT_EQ(spinner->engine().callbacks(), (Callbacks{second, third, first}));
  spinner->remove_node(node);
  EXPECT_TRUE(spinner->engine().callbacks().empty());
}

TEST_P(CallbackGroups, AGroupMovesToAnotherExecutorAfterItsRemoval) {
  Node node(context, "node");
  const auto group = group_of_its_own(node);
  std::atomic<int> runs{0};
  const auto timer = node.create_wall_timer(milliseconds(1), [&] { ++runs; }, {.group = group});
  const auto first = named_executor("first");
  const auto second = named_executor("second");
  first->add_callback_group(group, node);
  first->prepare();
  second->prepare();
  EXPECT_THAT([&] { second->add_callback_group(group, node); },
              ThrowsMessage<std::logic_error>(HasSubstr("is already in executor \"first\"")));
  first->remove_callback_group(group, node);
  EXPECT_TRUE(first->engine().callbacks().empty());
  second->add_callback_group(group, node);
  std::thread spinning([&] { second->spin(); });
  EXPECT_TRUE(eventually([&] { return runs >= 2; }));
  second->cancel();
  spinning.join();
}

TEST_P(CallbackGroups, AGroupWithoutACallbackOfTheNodeIsRefusedWithTheirNames) {
  Node node(context, "node");
  Node other(context, "other");
  const auto group = group_of_its_own(node);
  const auto timer = other.create_wall_timer(milliseconds(1), [] {}, {.group = group});
  const auto spinner = executor();
  try {
    spinner->add_callback_group(group, node);
    FAIL() << "it was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("\"test\""), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("\"node\""), std::string::npos) << error.what();
  }
  EXPECT_THAT([&] { spinner->add_callback_group(nullptr, node); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("add_callback_group got no group (nullptr) of node \"node\"")));
}

}  // namespace
}  // namespace rclrt::test
