// SPDX-License-Identifier: Apache-2.0
// Processes and nodes that share a number, a name or an address, at the same time or one after the
// other.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "rclrt/recorder/results.hpp"
#include "robot.hpp"
#include "trace_origins.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A sensor and a motor that takes the sensor's points, in one process. `base` is added to all
/// handles.
struct Pair : Robot {
  void make(std::uint64_t base, std::int64_t period_ns = 10 * kMs,
            std::string_view name_space = "/") {
    node(base + 1, "sensor", name_space);
    publisher(base + 10, base + 1, "/points");
    timer(base + 20, base + 1, period_ns, base + 21);
    node(base + 2, "motor", name_space);
    subscription(base + 30, base + 2, "/points", base + 31);
  }
  void run(std::uint64_t base, int times, std::int64_t work_ns = kMs) {
    for (int i = 0; i < times; ++i) {
      ++stamp;
      start(base + 21);
      publish(base + 10, stamp);
      end(base + 21, work_ns);
      take(base + 30, stamp);
      start(base + 31);
      end(base + 31, work_ns);
      now_ns += 8 * kMs;
    }
  }
  std::uint64_t stamp = 0;
};

void expect_one_robot(const TracedModel& made) {
  const model::Application& application = made.application;
  EXPECT_EQ(application.nodes.size(), 2U);
  ASSERT_EQ(application.callbacks.size(), 2U);
  EXPECT_EQ(application.executors.size(), 1U);
  ASSERT_EQ(application.chains.size(), 1U);
  EXPECT_EQ(application.chains[0].callbacks, (std::vector<std::size_t>{0, 1}));
}

TEST(Lives, AProcessThatIsStartedAgainIsCountedOnce) {
  Pair robot;
  robot.make(0);
  robot.run(0, 5);
  robot.pid = robot.tid = 200;  // respawned
  robot.now_ns += 500 * kMs;
  robot.make(7000);
  robot.run(7000, 7, 3 * kMs);
  const TracedModel made = robot.model();
  expect_one_robot(made);
  EXPECT_EQ(made.application.callbacks[0].observed->n, 12U);
  EXPECT_EQ(made.application.callbacks[0].wcet, model::Nanoseconds(3 * kMs));
  EXPECT_TRUE(has_note(made, "nodes /sensor, /motor lived 2 times"));
}

TEST(Lives, AContainerThatIsStartedAgainHasTheSameProcessNumber) {
  Pair robot;
  robot.pid = robot.tid = 1;
  for (const std::uint64_t base : {0U, 7000U, 0U}) {  // addresses may be the same, too
    robot.make(base);
    robot.run(base, 4);
  }
  const TracedModel made = robot.model();
  expect_one_robot(made);
  EXPECT_EQ(made.application.callbacks[1].observed->n, 12U);
}

TEST(Lives, ANodeThatAContainerLoads300TimesIsOne) {
  Pair robot;
  robot.node(90000, "camera");
  robot.timer(90020, 90000, 100 * kMs, 90021);  // lives during the whole trace
  for (std::uint64_t i = 0; i < 300; ++i) {
    robot.make(i * 100);
    robot.run(i * 100, 2);
    robot.start(90021);
    robot.end(90021, kMs);
  }
  const TracedModel made = robot.model();
  EXPECT_EQ(made.application.callbacks.size(), 3U);
  EXPECT_EQ(made.application.nodes.size(), 3U);
  EXPECT_EQ(made.application.chains.size(), 2U);
  EXPECT_TRUE(has_note(made, "lived 300 times"));
  EXPECT_FALSE(has_note(made, "camera"));
}

TEST(Lives, NodesOfOneNameThatRunAtOnceAreTwo) {
  Pair robot;
  robot.make(0);
  robot.pid = robot.tid = 200;
  robot.make(0);  // another process with the same addresses
  for (int i = 0; i < 3; ++i) {
    for (const std::int64_t process : {100, 200}) {
      robot.pid = robot.tid = process;
      robot.run(0, 1);
    }
  }
  const TracedModel made = robot.model();
  EXPECT_EQ(made.application.nodes.size(), 4U);
  EXPECT_EQ(made.application.callbacks.size(), 4U);
  EXPECT_FALSE(has_note(made, "lived"));
}

TEST(Lives, AnIdleNodeOfAProcessThatLivesOnIsNoEarlierLife) {
  Pair robot;
  robot.make(0);
  robot.node(3, "other");
  robot.timer(50, 3, 20 * kMs, 51);
  robot.run(0, 1);  // its last run
  robot.pid = robot.tid = 200;
  robot.make(0);
  robot.run(0, 3);
  robot.pid = robot.tid = 100;
  robot.start(51);
  robot.end(51, kMs);
  EXPECT_EQ(robot.model().application.callbacks.size(), 5U);
}

TEST(Lives, CallbacksOfOneKindInOneNodeStayApart) {
  Robot robot;
  for (const std::uint64_t base : {0U, 1000U}) {
    robot.pid = robot.tid = static_cast<std::int64_t>(base + 1);
    robot.node(base + 1, "node");
    robot.timer(base + 20, base + 1, 10 * kMs, base + 21);
    robot.timer(base + 22, base + 1, 10 * kMs, base + 23);
    for (int i = 0; i < 3; ++i) {
      for (const std::uint64_t callback : {base + 21, base + 23}) {
        robot.start(callback);
        robot.end(callback, kMs);
      }
      robot.now_ns += 8 * kMs;
    }
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 2U);
  EXPECT_EQ(made.application.callbacks[0].observed->n, 6U);
  EXPECT_EQ(made.application.callbacks[1].observed->n, 6U);
}

TEST(Lives, ATimerThatNeverRanIsNoEarlierLifeOfOneOfItsNode) {
  Robot robot;
  robot.node(1, "n");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.now_ns += kMs;
  robot.timer(22, 1, 10 * kMs, 23);
  robot.start(23);
  robot.end(23, kMs);
  EXPECT_TRUE(has_note(robot.model(), "1 timer never ran"));
}

TEST(Lives, ATimerWhosePeriodChangedBetweenLivesIsOneWithTheShorterPeriod) {
  Pair robot;
  robot.make(0, 20 * kMs);
  robot.run(0, 3);
  robot.pid = robot.tid = 200;
  robot.make(0, 10 * kMs);
  robot.run(0, 3);
  const TracedModel made = robot.model();
  expect_one_robot(made);
  EXPECT_EQ(std::get<model::Timer>(made.application.callbacks[0].trigger).period,
            model::Nanoseconds(10 * kMs));
  EXPECT_TRUE(has_note(made, "a period of 20 ms in one life and of 10 ms in another"));
}

TEST(Lives, EventsHaveNoIntervalFromOneLifeToTheNext) {
  Robot robot;
  for (const std::int64_t process : {100, 200}) {
    robot.pid = robot.tid = process;
    robot.node(1, "control");
    robot.subscription(30, 1, "/joy", 31);
    for (int i = 0; i < 3; ++i) {
      robot.start(31);
      robot.end(31, kMs);
      robot.now_ns += 4 * kMs;
    }
    robot.now_ns += 60'000 * kMs;
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 1U);
  EXPECT_EQ(std::get<model::Event>(made.application.callbacks[0].trigger).max_interval,
            model::Nanoseconds(5 * kMs));
}

TEST(Lives, AllLivesAreInTheResultsOnOneTrack) {
  Pair robot;
  for (const std::int64_t process : {100, 200}) {
    robot.pid = robot.tid = process;
    robot.make(0);
    robot.run(0, 5);
    robot.now_ns += 1000 * kMs;
  }
  TracedModel made = robot.model();
  EXPECT_EQ(made.slot_of, (std::vector<std::uint32_t>{0, 0}));
  std::vector<std::string> notes;
  const recorder::RunResults results = trace_results(
      robot.system, std::move(made), model::ExecutorKind::kWaitSet, ReadCounts{}, notes);
  ASSERT_EQ(results.chains.size(), 1U);
  EXPECT_EQ(results.chains[0].response->count, 10U);
  EXPECT_EQ(results.callback_counts[0].completed, 10U);
}

TEST(Lives, ProcessesOfOneNumberInTwoContainersAreTwo) {
  Pair robot;
  robot.pid = robot.tid = 1;
  for (const std::uint32_t space : {0U, 1U}) {
    robot.space = space;
    robot.make(0, 10 * kMs, space == 0 ? "/left" : "/right");
  }
  for (int i = 0; i < 20; ++i) {
    // Both run at the same time, each on its own CPU.
    robot.space = 0;
    robot.start(21);
    robot.space = 1;
    robot.start(21);
    robot.space = 0;
    robot.end(21, kMs);
    robot.space = 1;
    robot.end(21, kMs);
  }
  const TracedModel made = robot.model();
  EXPECT_EQ(made.application.callbacks.size(), 2U);
  EXPECT_EQ(made.application.executors.size(), 2U);
  EXPECT_EQ(robot.system.gaps().unmatched_ends, 0U);
}

TEST(Lives, ProcessesOfOneNumberThatNothingTellsApartAreRefused) {
  const auto overlap = [](Pair& robot) {
    for (int i = 0; i < 10; ++i) {
      robot.start(21);
      robot.start(521);
      robot.end(21, kMs);
      robot.end(521, kMs);
    }
  };
  Pair robot;
  robot.make(0);
  robot.make(500, 10 * kMs, "/other");
  EXPECT_THAT([&] { overlap(robot); },
              ThrowsMessage<TraceError>(HasSubstr("events of two processes with the same number")));

  const auto alternate = [](Pair& other) {
    for (int i = 0; i < 10; ++i) {
      other.thread = "lidar";
      other.run(0, 1);
      other.thread = "motor";
      other.run(500, 1);
    }
  };
  Pair named;  // the nodes never run at the same time
  named.make(0);
  named.make(500, 10 * kMs, "/other");
  EXPECT_THAT([&] { alternate(named); },
              ThrowsMessage<TraceError>(HasSubstr("events of two processes with the same number")));
}

TEST(Lives, ARunWithinARunIsNoSecondProcess) {
  Pair robot;
  robot.make(0);
  robot.run(0, 1);
  for (int i = 0; i < 10; ++i) {
    robot.start(21);
    robot.start(31);  // it spins
    robot.end(31, kMs);
    robot.end(21, kMs);
    robot.start(21);
    robot.start(31);  // and throws
    robot.end(21, kMs);
  }
  EXPECT_EQ(robot.model().application.callbacks.size(), 2U);
}

/// Returns the metadata of a trace of one machine.

}  // namespace
}  // namespace rclrt::trace
