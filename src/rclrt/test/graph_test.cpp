// SPDX-License-Identifier: Apache-2.0
// The view of a node on the graph, and callbacks for its changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <std_msgs/msg/int64.hpp>
#include <std_srvs/srv/set_bool.hpp>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::Int64;
using std_srvs::srv::SetBool;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Graph, CountsWhoUsesATopicOrAServiceByTheNodesOwnNames) {
  const auto context = make_context({"--ros-args", "-r", "in:=/elsewhere/topic"});
  Node node(context, "node", "/here");
  const auto first = node.create_publisher<Int64>("/elsewhere/topic", 10);
  const auto second = node.create_publisher<Int64>("in", 10);
  const auto subscription = node.create_subscription<Int64>("topic", 10, [](const Int64&) {});
  const auto service =
      node.create_service<SetBool>("serve", [](const SetBool::Request&, SetBool::Response&) {});
  const auto client = node.create_client<SetBool>("/here/serve");
  EXPECT_TRUE(node.wait_for_publishers("in", 2, kLimit));
  EXPECT_TRUE(node.wait_for_subscribers("/here/topic", 1, kLimit));
  EXPECT_EQ(node.count_publishers("topic"), 0U);
  EXPECT_EQ(node.count_subscribers("topic"), 1U);
  EXPECT_TRUE(eventually([&] { return node.count_services("serve") == 1; }));
  EXPECT_TRUE(eventually([&] { return node.count_clients("serve") == 1; }));
  EXPECT_FALSE(node.wait_for_publishers("in", 3, std::chrono::milliseconds(5)));
  EXPECT_THAT([&] { node.count_publishers("not a name"); },
              ThrowsMessage<Error>(HasSubstr("resolving the name \"not a name\"")));
}

TEST(Graph, KnowsTheOtherNodes) {
  const auto context = make_context();
  const Node node(context, "one");
  const Node other(context, "two", "/far/away");
  EXPECT_TRUE(eventually([&] {
    const auto names = node.get_node_names();
    return std::count(names.begin(), names.end(), "/one") == 1 &&
           std::count(names.begin(), names.end(), "/far/away/two") == 1;
  }));
}

class GraphCallbacks : public EverySpinningExecutor {};
INSTANTIATE_TEST_SUITE_P(Every, GraphCallbacks, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(GraphCallbacks, RunAtTheirPriorityWhenAPublisherComesAndWhenItGoes) {
  Node node(context, "node");
  std::atomic<int> seen{-1};
  create_graph_callback(node,
                        [&](const InstanceInfo& info) {
                          EXPECT_EQ(info.level, 4);
                          seen = static_cast<int>(node.count_publishers("topic"));
                        },
                        {.priority = 4});
  executor_->add_node(node);
  auto publisher = node.create_publisher<Int64>("topic", 10);
  EXPECT_TRUE(eventually([&] { return seen == 1; }));
  publisher.reset();
  EXPECT_TRUE(eventually([&] { return seen == 0; }));
  executor_->remove_node(node);
}

TEST_P(GraphCallbacks, OfOneNodeGoOnWhenAnotherNodeOfTheContextEnds) {
  Node staying(context, "staying");
  std::atomic<int> runs{0};
  for (int round = 0; round < 3; ++round) {
    auto leaving = std::make_unique<Node>(context, "leaving");
    create_graph_callback(*leaving, [] {});
    if (round == 0) {
      create_graph_callback(staying, [&] { ++runs; });
      executor_->add_node(staying);
    }
    executor_->add_node(*leaving);
    executor_->remove_node(*leaving);
    leaving.reset();
    const int before = runs;
    const auto publisher = staying.create_publisher<Int64>("topic", 10);
    EXPECT_TRUE(eventually([&] { return runs > before; }));
  }
  executor_->remove_node(staying);
}

TEST_P(GraphCallbacks, AfterItsRemovalNoneRuns) {
  Node node(context, "node");
  std::atomic<bool> gone{false};
  std::atomic<bool> ran_when_gone{false};
  std::atomic<int> runs{0};
  create_graph_callback(node, [&] {
    ran_when_gone = ran_when_gone || gone;
    ++runs;
  });
  executor_->add_node(node);
  auto publisher = node.create_publisher<Int64>("topic", 10);
  EXPECT_TRUE(eventually([&] { return runs > 0; }));
  executor_->remove_node(node);
  gone = true;
  publisher.reset();
  EXPECT_TRUE(eventually([&] { return node.count_publishers("topic") == 0; }));
  EXPECT_FALSE(ran_when_gone);
}

TEST_P(GraphCallbacks, EndWithTheContext) {
  Node node(context, "node");
  create_graph_callback(node, [] {});
  executor_->add_node(node);
  // The fixture joins the spinning thread, and the end of the node joins the watching one.
  context->shutdown();
}

}  // namespace
}  // namespace rclrt::test
