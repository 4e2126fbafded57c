// SPDX-License-Identifier: Apache-2.0
// Models and results from events of rclcpp.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "robot.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A sensor with a timer, a controller and a motor, in a line.
struct Line : Robot {
  Line() {
    node(1, "sensor");
    publisher(10, 1, "/points");
    timer(20, 1, 10 * kMs, 21);
    node(2, "control");
    publisher(11, 2, "/cmd");
    subscription(30, 2, "/points", 31);
    node(3, "motor");
    subscription(40, 3, "/cmd", 41);
  }

  void run(std::uint64_t stamp, std::int64_t control_ns = kMs) {
    start(21);
    publish(10, stamp);
    end(21, kMs / 2);
    take(30, stamp);
    start(31);
    publish(11, stamp);
    end(31, control_ns);
    take(40, stamp);
    start(41);
    end(41, kMs / 4);
    now_ns += 10 * kMs - kMs / 2 - control_ns - kMs / 4;
  }
};

TEST(TracedModel, ALineOfRclcppNodesBecomesAChain) {
  Line line;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    line.run(i, i == 50 ? 3 * kMs : kMs);
  }
  const TracedModel made = line.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.callbacks.size(), 3U);
  EXPECT_EQ(application.callbacks[0].id, "sensor_timer_1");
  EXPECT_EQ(application.callbacks[1].id, "control_points");
  EXPECT_EQ(application.callbacks[2].id, "motor_cmd");
  EXPECT_EQ(std::get<model::Timer>(application.callbacks[0].trigger).period,
            model::Nanoseconds(10 * kMs));
  EXPECT_EQ(application.callbacks[0].publishes, std::vector<std::string>{"/points"});
  EXPECT_EQ(std::get<model::Subscription>(application.callbacks[1].trigger).depth, 7U);
  EXPECT_EQ(application.successors(0), std::vector<std::size_t>{1});
  EXPECT_EQ(application.successors(1), std::vector<std::size_t>{2});
  const model::ObservedTimes expected{.n = 100,
                                      .p50 = model::Nanoseconds(kMs),
                                      .p99 = model::Nanoseconds(kMs),
                                      .max = model::Nanoseconds(3 * kMs)};
  EXPECT_EQ(application.callbacks[1].observed, expected);
  EXPECT_EQ(application.callbacks[1].wcet, expected.max);
  ASSERT_EQ(application.chains.size(), 1U);
  EXPECT_EQ(application.chains[0].callbacks, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(application.chains[0].deadline, model::Nanoseconds(10 * kMs));
  EXPECT_EQ(application.executors.size(), 1U);
}

TEST(TracedModel, ChainsAreMeasuredFromTheTimersGrid) {
  Line line;
  const std::int64_t begin_ns = line.now_ns;
  line.now_ns = begin_ns + 10 * kMs + kMs / 10;  // 0.1 ms after the grid
  for (std::uint64_t i = 1; i <= 20; ++i) {
    line.run(i);
  }
  TracedModel made = line.model();
  std::vector<std::string> notes;
  const recorder::RunResults results = trace_results(
      line.system, std::move(made), model::ExecutorKind::kWaitSet, ReadCounts{}, notes);
  ASSERT_EQ(results.chains.size(), 1U);
  ASSERT_TRUE(results.chains[0].response);
  EXPECT_EQ(results.chains[0].response->count, 20U);
  // A start 0.1 ms late, then 0.5, 1 and 0.25 ms of work.
  EXPECT_EQ(results.chains[0].response->p50_ns, kMs / 10 + kMs / 2 + kMs + kMs / 4);
  EXPECT_TRUE(notes.empty());
}

TEST(TracedModel, MessagesAreFollowedBetweenProcesses) {
  Robot robot;
  robot.node(1, "sensor");
  robot.publisher(10, 1, "/points");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.pid = robot.tid = 200;  // pointers of another process may be the same
  robot.node(1, "control");
  robot.subscription(10, 1, "/points", 21);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    robot.pid = robot.tid = 100;
    robot.start(21);
    robot.publish(10, i);
    robot.end(21, kMs);
    robot.pid = robot.tid = 200;
    robot.take(10, i);
    robot.start(21);
    robot.end(21, kMs);
    robot.now_ns += 8 * kMs;
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 2U);
  EXPECT_EQ(made.application.chains.size(), 1U);
  ASSERT_EQ(made.application.executors.size(), 2U);
  EXPECT_NE(made.application.executors[0].process, made.application.executors[1].process);
  const TracedInstance& last = robot.system.instances().back();
  EXPECT_EQ(last.publisher, 0U);
  EXPECT_EQ(last.start_ns - last.published_ns, kMs);
}

TEST(TracedModel, MessagesAreFollowedThroughTheBuffersOfOneProcess) {
  Robot robot;
  robot.node(1, "sensor");
  robot.publisher(10, 1, "/points");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.subscription(30, 1, "/points", 31);
  // rclcpp's second subscription, for intra-process messages: its callback comes first.
  robot.emit(EventKind::kSubscriptionCallback, {5000, 32});
  robot.emit(EventKind::kSubscriptionObject, {30, 5000});
  robot.start(21);
  robot.emit(EventKind::kIntraPublish, {10, 7777});
  robot.emit(EventKind::kEnqueue, {6000, 3});
  robot.end(21, kMs);
  robot.emit(EventKind::kDequeue, {6000, 3});
  robot.start(32);
  robot.end(32, kMs);
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 2U);
  EXPECT_EQ(made.application.successors(0), std::vector<std::size_t>{1});
  EXPECT_EQ(robot.system.instances().back().publisher, 0U);
}

TEST(TracedModel, ACycleIsCutWhereItLeadsBack) {
  Line line;
  line.publisher(12, 3, "/feedback");
  line.subscription(50, 2, "/feedback", 51);
  line.publisher(13, 2, "/cmd");
  for (std::uint64_t i = 1; i <= 4; ++i) {
    line.run(i);
    line.take(40, i);
    line.start(41);
    line.publish(12, i);
    line.end(41, kMs);
    line.take(50, i);
    line.start(51);
    line.publish(13, 1000 + i);
    line.end(51, kMs);
  }
  const TracedModel made = line.model();
  const auto events = std::ranges::count_if(made.application.callbacks, [](const auto& each) {
    return each.kind() == model::CallbackKind::kEvent;
  });
  EXPECT_EQ(events, 1);
  EXPECT_TRUE(std::ranges::any_of(made.notes, [](const std::string& note) {
    return note.find("'motor_cmd' is on a cycle of messages") != std::string::npos;
  }));
}

TEST(TracedModel, WhatComesFromOutsideIsAnEventWithItsIntervals) {
  Robot robot;
  robot.node(1, "control");
  robot.subscription(30, 1, "/joy", 31);
  robot.emit(EventKind::kServiceInit, {60, 1}, {"/reset"});
  robot.emit(EventKind::kServiceCallback, {60, 61});
  for (const std::int64_t pause_ms : {5, 20, 10}) {
    robot.take(30, 1);
    robot.start(31);
    robot.end(31, 0);
    robot.now_ns += pause_ms * kMs;
  }
  robot.start(61);
  robot.end(61, kMs);
  robot.subscription(70, 1, "/rosout", 71);
  robot.start(71);
  robot.end(71, kMs);
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 2U);  // /rosout belongs to tools
  const auto& event = std::get<model::Event>(made.application.callbacks[0].trigger);
  EXPECT_EQ(event.min_interval, model::Nanoseconds(5 * kMs));
  EXPECT_EQ(event.max_interval, model::Nanoseconds(20 * kMs));
  EXPECT_EQ(made.application.callbacks[1].kind(), model::CallbackKind::kEvent);
  EXPECT_TRUE(made.stands_for_other[1]);
  EXPECT_EQ(robot.system.gaps().unknown_sources, 3U);
}

TEST(TracedModel, CallbacksThatRanAtOnceAreInNoGroup) {
  Robot robot;
  robot.node(1, "busy");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.timer(22, 1, 10 * kMs, 23);
  robot.timer(24, 1, 10 * kMs, 25);
  robot.timer(26, 1, 10 * kMs, 27);
  robot.start(21);
  robot.tid = 101;
  robot.start(23);
  robot.end(23, kMs);
  robot.tid = 100;
  robot.end(21, kMs);
  for (const std::uint64_t callback : {25U, 25U, 27U}) {  // 25 on both threads
    robot.tid = robot.tid == 100 ? 101 : 100;
    robot.start(callback);
    robot.end(callback, kMs);
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 4U);
  EXPECT_FALSE(made.application.callbacks[0].group);
  EXPECT_FALSE(made.application.callbacks[1].group);
  EXPECT_EQ(made.application.callbacks[2].group, "default");
  EXPECT_EQ(made.application.callbacks[3].group, "default");
}

TEST(TracedModel, NodesOfOneNameInTwoNamespacesAreTwo) {
  Robot robot;
  robot.node(1, "camera", "/left");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.node(2, "camera", "/right");
  robot.timer(22, 2, 10 * kMs, 23);
  for (const std::uint64_t callback : {21U, 23U}) {
    robot.start(callback);
    robot.end(callback, kMs);
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.nodes.size(), 2U);
  EXPECT_EQ(made.application.nodes[1].name, "camera_2");
  EXPECT_EQ(made.application.nodes[1].name_space, "/right");
  EXPECT_FALSE(made.notes.empty());
}

TEST(TracedModel, WhatIsMissingIsCounted) {
  Line line;
  line.start(999);  // made before the trace
  line.end(999, kMs);
  line.end(31, kMs);  // the start of this run is lost
  line.start(21);     // the end of this run is lost
  line.run(1);
  const TracedModel made = line.model();
  EXPECT_EQ(line.system.gaps().unknown_callbacks, 1U);
  EXPECT_EQ(line.system.gaps().unmatched_ends, 1U);
  EXPECT_EQ(line.system.gaps().unfinished, 1U);
  EXPECT_EQ(made.application.callbacks.size(), 3U);
}

TEST(TracedModel, ATraceWithoutRunsIsRefused) {
  Robot robot;
  robot.node(1, "idle");
  robot.timer(20, 1, 10 * kMs, 21);
  EXPECT_THAT([&] { build_model(robot.system, "robot"); },
              ThrowsMessage<TraceError>(HasSubstr("the trace has no run of a callback of ROS")));
}

TEST(TracedModel, WhatRunsWhereEventsAreLostIsLeftOut) {
  Line line;
  line.run(1);
  line.start(21);
  line.emit(EventKind::kLoss, {});  // the end of this run and the next start
  line.now_ns += 1000 * kMs;
  line.end(21, kMs);
  line.run(2);
  const TracedModel made = line.model();
  EXPECT_EQ(made.application.callbacks[0].wcet, model::Nanoseconds(kMs / 2));
  EXPECT_EQ(made.application.callbacks[0].observed->n, 2U);
  EXPECT_EQ(line.system.gaps().losses, 1U);
}

TEST(TracedModel, ATimerAtTheAddressOfAnEarlierOneIsAnother) {
  Robot robot;
  robot.node(1, "n");
  for (const std::int64_t period_ms : {10, 100}) {
    robot.timer(20, 1, period_ms * kMs, 21);
    for (int i = 0; i < 3; ++i) {
      robot.start(21);
      robot.end(21, kMs);
    }
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 2U);
  EXPECT_EQ(std::get<model::Timer>(made.application.callbacks[0].trigger).period,
            model::Nanoseconds(10 * kMs));
  EXPECT_EQ(made.application.callbacks[1].observed->n, 3U);
}

TEST(TracedModel, ALateTimerKeepsItsRelease) {
  Robot robot;
  robot.node(1, "n");
  robot.timer(20, 1, 10 * kMs, 21);
  const std::int64_t created_ns = robot.now_ns;
  for (const std::int64_t start_ms : {10, 45, 50}) {  // 20 was due, 30 and 40 were skipped
    robot.now_ns = created_ns + start_ms * kMs;
    robot.start(21);
    robot.end(21, kMs);
  }
  TracedModel made = robot.model();
  std::vector<std::string> notes;
  const recorder::RunResults results = trace_results(
      robot.system, std::move(made), model::ExecutorKind::kWaitSet, ReadCounts{}, notes);
  std::vector<std::int64_t> late_ms;
  for (const recorder::InstanceRecord& record : results.records) {
    late_ms.push_back((record.start_ns - record.release_ns) / kMs);
  }
  EXPECT_EQ(late_ms, (std::vector<std::int64_t>{0, 25, 0}));
}

TEST(TracedModel, ATimerThatMayPublishWhatItsNodeWasSentIsNamed) {
  Line line;
  line.publisher(12, 3, "/state");  // of the motor, which publishes nothing in response to /cmd
  line.timer(50, 3, 20 * kMs, 51);
  line.run(1);
  line.start(51);
  line.publish(12, 7);
  line.end(51, kMs);
  EXPECT_TRUE(has_note(line.model(), "timer motor_timer_1 may publish what motor_cmd took"));
  Line without;
  without.run(1);
  EXPECT_FALSE(has_note(without.model(), "may publish"));
}

TEST(TracedModel, NodesWithoutCallbacksAreNamed) {
  Line line;
  line.run(1);
  EXPECT_FALSE(has_note(line.model(), "without any callback"));
  line.pid = 300;
  line.node(1, "of_rclpy");
  EXPECT_TRUE(has_note(line.model(), "process 300 (of_rclpy) has nodes without any callback"));
}

/// Returns the misses of two timers on separate threads that run too long at the same time.
std::vector<recorder::ChainMiss> misses_on(std::size_t cpus) {
  Robot robot;
  robot.node(1, "n");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.timer(22, 1, 10 * kMs, 23);
  robot.now_ns += 10 * kMs;
  robot.tid = 100;
  robot.start(21);
  robot.tid = 101;
  robot.start(23);
  robot.end(23, 12 * kMs);
  robot.tid = 100;
  robot.end(21, kMs);
  TracedModel made = robot.model();
  std::vector<std::string> notes;
  return trace_results(robot.system, std::move(made), model::ExecutorKind::kWaitSet, {.cpus = cpus},
                       notes)
      .misses;
}

TEST(TracedModel, OnlyWhatSharesACpuIsBlamed) {
  const auto is_blamed = [](const recorder::ChainMiss& miss) { return !miss.culprits.empty(); };
  const auto alone = misses_on(2);
  ASSERT_FALSE(alone.empty());
  EXPECT_TRUE(std::ranges::none_of(alone, is_blamed));
  EXPECT_TRUE(std::ranges::any_of(misses_on(1), is_blamed));
  EXPECT_TRUE(std::ranges::any_of(misses_on(0), is_blamed)) << "it does not say: as on one";
}

}  // namespace
}  // namespace rclrt::trace
