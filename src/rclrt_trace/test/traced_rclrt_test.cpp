// SPDX-License-Identifier: Apache-2.0
// Models and results from events of rclrt, which have more data than those of rclcpp.
#include <algorithm>

#include "robot.hpp"

namespace rclrt::trace {
namespace {

/// Events as rclrt emits them, with names, priorities, groups and executors.
struct OfRclrt : Robot {
  void callback(std::uint64_t pointer, std::uint64_t node_handle, std::string_view name,
                std::string_view kind, std::uint64_t priority, std::uint64_t group) {
    emit(EventKind::kCallbackAdded, {pointer, node_handle, priority, group, 0, 0}, {name, kind});
    emit(EventKind::kExecutorCallback, {900, pointer}, {"main", "0,1"});
  }
};

TEST(TracedModel, RclrtSaysWhatRclcppDoesNot) {
  OfRclrt robot;
  robot.node(1, "fusion");
  robot.publisher(10, 1, "/a");
  robot.publisher(11, 1, "/b");
  for (const std::uint64_t timer : {20U, 22U}) {
    robot.timer(timer, 1, 10 * kMs, timer);
    robot.callback(timer, 1, timer == 20 ? "left" : "right", "timer", 3, 500);
  }
  robot.subscription(30, 1, "/a", 31);
  robot.callback(31, 1, "fuse", "subscription", 4, 501);
  robot.emit(EventKind::kSynchronizerInput, {800, 31, 5 * kMs});
  robot.subscription(32, 1, "/b", 33);
  robot.callback(33, 1, "fuse", "subscription", 4, 501);
  robot.emit(EventKind::kSynchronizerInput, {800, 33, 5 * kMs});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    robot.start(20);
    robot.publish(10, i);
    robot.end(20, kMs);
    robot.start(22);
    robot.publish(11, i);
    robot.end(22, kMs);
    robot.take(30, i);  // waits for its partner without a run
    robot.take(32, i);
    robot.emit(EventKind::kCallbackRelease, {33, static_cast<std::uint64_t>(robot.now_ns - 5), 7});
    robot.start(33);
    robot.end(33, kMs);
  }
  const TracedModel made = robot.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.callbacks.size(), 3U);
  EXPECT_EQ(application.callbacks[0].id, "left");
  EXPECT_EQ(application.callbacks[0].priority, 3);
  EXPECT_TRUE(application.callbacks[0].group);
  EXPECT_EQ(application.callbacks[0].group, application.callbacks[1].group);
  EXPECT_FALSE(application.callbacks[2].group);
  const auto& sync = std::get<model::Sync>(application.callbacks[2].trigger);
  EXPECT_EQ(sync.topics, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(sync.window, model::Nanoseconds(5 * kMs));
  EXPECT_EQ(application.executors[0].name, "main");
  EXPECT_EQ(application.executors[0].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(application.chains.size(), 2U);
  EXPECT_EQ(application.chains[0].priority, 4);
  const TracedInstance& last = robot.system.instances().back();
  EXPECT_EQ(last.start_ns - last.release_ns, 5);
  EXPECT_EQ(last.ready_ns, 7);
}

TEST(TracedModel, ASharedCallbackAnswersEachTopicOnItsOwn) {
  OfRclrt robot;
  robot.node(1, "relay");
  for (const std::uint64_t pub : {10U, 11U, 12U, 13U}) {
    const std::string topic = "/t" + std::to_string(pub);
    robot.publisher(pub, 1, topic);
  }
  for (const std::uint64_t timer : {20U, 22U}) {
    robot.timer(timer, 1, 10 * kMs, timer);
    robot.callback(timer, 1, timer == 20 ? "one" : "two", "timer", 1, 500 + timer);
  }
  robot.subscription(30, 1, "/t10", 31);
  robot.callback(31, 1, "both", "subscription", 1, 600);
  robot.subscription(32, 1, "/t11", 33);
  robot.callback(33, 1, "both", "subscription", 1, 600);
  robot.subscription(34, 1, "/t12", 35);
  robot.callback(35, 1, "end_one", "subscription", 1, 601);
  robot.subscription(36, 1, "/t13", 37);
  robot.callback(37, 1, "end_two", "subscription", 1, 602);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    for (const std::uint64_t way : {0U, 1U}) {
      robot.start(20 + 2 * way);
      robot.publish(10 + way, i);
      robot.end(20 + 2 * way, kMs);
      robot.take(30 + 2 * way, i);
      robot.start(31 + 2 * way);
      robot.publish(12 + way, i);
      robot.end(31 + 2 * way, kMs);
      robot.take(34 + 2 * way, i);
      robot.start(35 + 2 * way);
      robot.end(35 + 2 * way, kMs);
    }
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 5U);
  const model::Callback& both = made.application.callbacks[2];
  EXPECT_EQ(both.routes, (std::vector<std::vector<std::size_t>>{{0}, {1}}));
  std::vector<std::string> chains;
  for (const model::Chain& chain : made.application.chains) {
    chains.push_back(chain.id);
  }
  EXPECT_EQ(chains, (std::vector<std::string>{"one_to_end_one", "two_to_end_two"}));
}

TEST(TracedModel, ASharedCallbackOfWhichAThreadPublishesOneTopicTooIsAnEvent) {
  OfRclrt robot;
  robot.node(1, "relay");
  for (const std::uint64_t way : {0U, 1U}) {
    robot.publisher(10 + way, 1, way == 0 ? "/fast" : "/slow");
    robot.timer(20 + way, 1, 10 * kMs, 20 + way);
    robot.callback(20 + way, 1, way == 0 ? "one" : "two", "timer", 1, 500 + way);
    robot.subscription(30 + way, 1, way == 0 ? "/fast" : "/slow", 40 + way);
    robot.callback(40 + way, 1, "both", "subscription", 1, 600);
  }
  const auto own_thread = robot.tid;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    const std::uint64_t way = i % 2;
    if (i % 3 == 0) {  // a thread outside of callbacks
      robot.tid = own_thread + 7;
      robot.publish(10 + way, i);
      robot.tid = own_thread;
    } else {
      robot.start(20 + way);
      robot.publish(10 + way, i);
      robot.end(20 + way, kMs);
    }
    robot.take(30 + way, i);
    robot.start(40 + way);
    robot.end(40 + way, kMs);
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 3U);
  const auto both = std::ranges::find(made.application.callbacks, "both", &model::Callback::id);
  ASSERT_NE(both, made.application.callbacks.end());
  EXPECT_EQ(both->kind(), model::CallbackKind::kEvent)
      << "the timers' rates are two thirds of those of the messages";
}

// A container of rclrt_robot: two priorities on two threads, nodes that share a group, a service.
TEST(TracedRclrt, AContainerOfRclcppNodesIsOneExecutor) {
  Robot robot;
  robot.node(1, "lidar");
  robot.publisher(10, 1, "/scan");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.timer(22, 1, 100 * kMs, 23);
  robot.node(2, "brake");
  robot.subscription(30, 2, "/scan", 31);
  robot.emit(EventKind::kSubscriptionCallback, {5000, 32});  // an intra-process message
  robot.emit(EventKind::kSubscriptionObject, {30, 5000});
  robot.emit(EventKind::kServiceInit, {40, 2}, {"/reset"});
  robot.emit(EventKind::kServiceCallback, {40, 41});
  const auto runs = [&](std::uint64_t entity, std::uint64_t priority, std::uint64_t group,
                        std::uint64_t deadline = 0) {
    robot.emit(EventKind::kExecutorEntity, {900, entity, priority, group, 0, deadline},
               {"robot", "0,1"});
  };
  runs(20, 2, 501, 5 * kMs);
  runs(22, 1, 501);
  runs(30, 1, 502);
  runs(40, 1, 502);
  runs(77, 1, 502);  // a client, which no event has named
  runs(30, 3, 502);  // a new priority
  for (std::uint64_t i = 0; i < 5; ++i) {
    for (const std::uint64_t callback : {21U, 31U, 32U, 23U, 41U}) {
      robot.tid = callback == 21 || callback == 31 || callback == 32 ? 101 : 102;
      if (callback == 31) {
        robot.take(30, i + 1);
      }
      robot.start(callback);
      if (callback == 21) {
        robot.publish(10, i + 1);
      }
      robot.end(callback, kMs);
    }
  }
  const TracedModel made = robot.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.executors.size(), 1U);
  EXPECT_EQ(application.executors[0].name, "robot");
  EXPECT_EQ(application.executors[0].cpus, (std::vector<int>{0, 1}));
  ASSERT_EQ(application.callbacks.size(), 4U);
  EXPECT_EQ(application.callbacks[0].id, "lidar_timer_1");
  EXPECT_EQ(application.callbacks[0].priority, 2);
  EXPECT_EQ(application.callbacks[0].deadline, model::Nanoseconds(5 * kMs));
  EXPECT_EQ(application.callbacks[0].group, application.callbacks[1].group);
  EXPECT_EQ(application.callbacks[2].id, "brake_scan");
  EXPECT_EQ(application.callbacks[2].priority, 3);
  EXPECT_TRUE(application.callbacks[2].group);
  EXPECT_EQ(application.callbacks[2].group, application.callbacks[3].group);
  EXPECT_NE(application.callbacks[1].group, application.callbacks[2].group);
  EXPECT_EQ(application.successors(0), std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace rclrt::trace
