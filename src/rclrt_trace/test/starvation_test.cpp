// SPDX-License-Identifier: Apache-2.0
// Starvation that happened in an executor of several threads, and long waits that are none.
#include <string>

#include "schedule.hpp"

namespace rclrt::trace {
namespace {

bool has_starved(const TracedModel& made) { return has_note(made, "starved"); }

/// Teper et al., EMSOFT 2024, example 4: timers 21 and 22 share a group that is never idle.
struct Example4 : Schedule {
  explicit Example4(int periods = 8) {
    add_timer(21, 1000);
    add_timer(22, 1000);
    add_timer(23, 1000);
    for (int i = 1; i <= periods; ++i) {
      run(i % 2, 21, i * 1000, i * 1000 + 1000);
      run(1 - i % 2, 23, i * 1000, i * 1000 + 500);
    }
  }
};

TEST(Starvation, ATimerOfABusyGroupThatNeverRanIsNamed) {
  Example4 robot;
  const TracedModel made = robot.play();
  // From the grid point after the first run's begin to the end at 9 s.
  EXPECT_TRUE(has_note(
      made,
      "callback 'n_timer_2' starved: due 1.000 s after the first run, it had not begun 7.000 s "
      "later (7 of its periods); meanwhile 'n_timer_1' of its group began 6 times, and a thread of "
      "the executor ran no callback for 3.500 s: a wait set of several threads, as that of "
      "rclcpp's "
      "MultiThreadedExecutor, leaves out a group that is busy"));
  EXPECT_TRUE(has_note(made, "https://github.com/ros2/rclcpp/issues/2645"));
  EXPECT_FALSE(has_note(made, "did not run any more"));
}

TEST(Starvation, TheModelHasTheTimerThatNeverRanInItsGroup) {
  Example4 robot;
  const TracedModel made = robot.play();
  const auto& callbacks = made.application.callbacks;
  ASSERT_EQ(callbacks.size(), 3U);
  EXPECT_EQ(callbacks[1].id, "n_timer_2");
  EXPECT_EQ(std::get<model::Timer>(callbacks[1].trigger).period, model::Nanoseconds(1000 * kMs));
  EXPECT_FALSE(callbacks[1].observed);
  EXPECT_TRUE(has_note(made, "callback 'n_timer_2' never ran: its wcet_ms of 0.001 stands for"));
  EXPECT_EQ(callbacks[0].group, "default");
  EXPECT_EQ(callbacks[1].group, "default");
  EXPECT_FALSE(callbacks[2].group);
  EXPECT_EQ(made.application.chains.size(), 3U);
  EXPECT_FALSE(has_note(made, "never ran: left out"));
}

// A program that spins in main first, and in a thread later.
TEST(Starvation, ThreadsThatRanOneAfterTheOtherAreOneThread) {
  Schedule robot;
  robot.add_timer(21, 1000);
  robot.add_timer(22, 1000);
  for (int i = 1; i <= 8; ++i) {
    robot.run(i < 3 ? 0 : 1, 21, i * 1000, i * 1000 + 100);
    robot.run(i < 3 ? 0 : 1, 22, i * 1000 + 200, i * 1000 + 300);
  }
  const TracedModel made = robot.play();
  EXPECT_FALSE(has_note(made, "as rclcpp's MultiThreadedExecutor does"));
  EXPECT_TRUE(made.application.executors.at(0).cpus.empty());
  for (const std::string& proposal : made.proposals) {
    EXPECT_EQ(proposal.find("wait_set:threads"), std::string::npos) << proposal;
  }
}

TEST(Starvation, TheModelStatesThreadsAndCpus) {
  Example4 robot;
  const TracedModel made = robot.play();
  ASSERT_EQ(made.application.executors.size(), 1U);
  EXPECT_EQ(made.application.executors[0].cpus, (std::vector<int>{0, 1}));
  EXPECT_TRUE(has_note(made, "ran callbacks on 2 threads"));
  ASSERT_EQ(made.proposals.size(), 1U);
  EXPECT_NE(made.proposals[0].find("rclrt analyze FILE --executor wait_set:threads=2"),
            std::string::npos);
}

// Example 6 there: no thread is ever free, and the timers before the rare one take every turn.
TEST(Starvation, ARareTimerThatEqualsKeepFromTheThreadsIsNamed) {
  Schedule robot;
  for (const std::uint64_t callback : {21U, 22U, 23U}) {
    robot.add_timer(callback, 500);
  }
  robot.add_timer(24, 1000);
  for (int i = 1; i <= 12; ++i) {  // 23 is on the thread that is free first
    robot.run(i % 2, 21, i * 500, i * 500 + 333);
    robot.run(1 - i % 2, 22, i * 500, i * 500 + 500);
    robot.run(i % 2, 23, i * 500 + 333, i * 500 + 500);
  }
  const TracedModel made = robot.play();
  EXPECT_TRUE(has_note(made, "callback 'n_timer_4' starved"));
  EXPECT_TRUE(has_note(made, "and a thread of the executor ran no callback for 0.000 s"));
}

TEST(Starvation, AWaitForOneLongRunIsNone) {
  Schedule robot;
  robot.add_timer(21, 10);
  robot.add_timer(22, 100);
  robot.node(2, "other");
  robot.add_timer(23, 5, 2);
  for (std::int64_t round = 0; round < 6; ++round) {
    const std::int64_t at = 300 * round;
    const std::int64_t one = round % 2;
    robot.run(one, 21, at + 10, at + 11);
    robot.run(one, 22, at + 12, at + 112);  // 21 waits for 9 of its periods
    for (std::int64_t i = 112; i < 310; i += i == 112 ? 8 : 10) {
      robot.run(one, 21, at + i, at + i + 1);
    }
    for (std::int64_t i = 13; i < 310; i += 5) {
      robot.run(1 - one, 23, at + i, at + i + 1);
    }
  }
  const TracedModel made = robot.play();
  EXPECT_EQ(made.application.callbacks[0].group, "default");
  EXPECT_EQ(made.application.callbacks[1].group, "default");
  EXPECT_FALSE(has_starved(made));
}

TEST(Starvation, AProcessWithoutACpuHasNone) {
  Schedule robot;
  for (const std::uint64_t callback : {21U, 22U, 23U}) {
    robot.add_timer(callback, 10);
  }
  std::int64_t at = 10;
  for (int i = 0; i < 40; ++i) {  // another process has both CPUs for 100 ms, four times
    robot.run(i % 2, 21, at, at + 4);
    robot.run(1 - i % 2, 22, at, at + 3);
    robot.run(1 - i % 2, 23, at + 3, at + 5);
    at += i % 10 == 9 ? 100 : 10;
  }
  EXPECT_FALSE(has_starved(robot.play()));
}

TEST(Starvation, AnOverloadThatAllShareIsNone) {
  Schedule robot;
  for (const std::uint64_t callback : {21U, 22U, 23U, 24U}) {
    robot.add_timer(callback, 10);
  }
  for (std::int64_t i = 0; i < 20; ++i) {  // each waits for 3 or 4 of its periods for its turn
    robot.run(i % 2, 21, 80 * i + 10, 80 * i + 50);
    robot.run(1 - i % 2, 22, 80 * i + 10, 80 * i + 50);
    robot.run(i % 2, 23, 80 * i + 50, 80 * i + 90);
    robot.run(1 - i % 2, 24, 80 * i + 50, 80 * i + 90);
  }
  EXPECT_FALSE(has_starved(robot.play()));
}

TEST(Starvation, WhatMoreUrgentCallbacksDelayIsNot) {
  for (const std::uint64_t priority : {5U, 1U}) {  // of the others; the waiting one has 1
    Schedule robot;
    for (const std::uint64_t callback : {21U, 22U, 23U}) {
      robot.add_timer(callback, 10);
      robot.emit(EventKind::kCallbackAdded,
                 {callback, 1, callback == 22 ? 1U : priority, callback, 0, 0},
                 {"c" + std::to_string(callback), "timer"});
      robot.emit(EventKind::kExecutorCallback, {900, callback}, {"main", "0,1"});
    }
    for (std::int64_t i = 1; i <= 20; ++i) {
      robot.run(0, 21, 10 * i, 10 * i + 10);
      robot.run(1, 23, 10 * i, 10 * i + 10);
    }
    robot.run(0, 22, 210, 211);
    const TracedModel made = robot.play();
    EXPECT_EQ(has_starved(made), priority == 1) << priority;
  }
}

TEST(Starvation, WhatIsMissingInACutTraceIsNoWait) {
  Example4 whole;
  whole.run(0, 22, 900, 950);
  Example4 cut;
  cut.run(0, 22, 900, 950);
  cut.damage(3000, INT64_MAX / kMs / 2);
  EXPECT_TRUE(has_starved(whole.play()));
  EXPECT_FALSE(has_starved(cut.play()));
}

TEST(Starvation, ALossEndsAWaitAndAnotherOneBeginsAfterIt) {
  Example4 lossy(16);
  lossy.run(0, 22, 900, 950);
  lossy.damage(4000, 4100);
  const TracedModel made = lossy.play();
  EXPECT_TRUE(has_note(made, "'n_timer_2' starved: due 4.100 s after the first run"));
  Example4 often(16);
  for (std::int64_t at = 1700; at < 17'000; at += 2000) {
    often.damage(at, at + 100);
  }
  EXPECT_FALSE(has_starved(often.play()));
}

TEST(Starvation, ACancelledTimerIsNotCalledStarved) {
  Schedule robot;
  robot.add_timer(21, 10);
  robot.add_timer(22, 10);
  robot.add_timer(23, 10);
  robot.run(0, 22, 10, 11);  // once
  for (std::int64_t i = 1; i <= 50; ++i) {
    robot.run(i % 2, 21, 10 * i + 2, 10 * i + 6);
    robot.run(1 - i % 2, 23, 10 * i + 2, 10 * i + 5);
  }
  const TracedModel made = robot.play();
  EXPECT_FALSE(has_starved(made));
  EXPECT_TRUE(has_note(made,
                       "1 callback did not run any more, although a thread and the group were "
                       "free: 'n_timer_2' since 0.010 s"));
  EXPECT_TRUE(has_note(made, "https://github.com/ros2/rclcpp/issues/3240"));
}

/// A subscription (41) in a group of its own; timers 21 and 23 run on both threads.
struct Subscriber : Schedule {
  Subscriber() {
    add_timer(21, 10);
    add_timer(23, 10);
    node(2, "listener");
    publisher(10, 1, "/points");
    subscription(40, 2, "/points", 41);
    for (std::int64_t i = 1; i <= 60; ++i) {
      publish_at(10 * i + 1, 10, static_cast<std::uint64_t>(i));
      run(i % 2, 21, 10 * i + 2, 10 * i + 6);
      run(1 - i % 2, 23, 10 * i + 2, 10 * i + 5);
      if (i <= 10 || i > 40) {
        take_and_run(0, 40, static_cast<std::uint64_t>(i > 40 ? i - 30 : i), 41, 10 * i + 7,
                     10 * i + 8);
      }
    }
  }
};

TEST(Starvation, AMessageThatWasTakenLateAlthoughAllWasFreeIsForgotten) {
  Subscriber robot;
  const TracedModel made = robot.play();
  EXPECT_TRUE(has_note(made, "callback 'listener_points' starved"));
  EXPECT_TRUE(has_note(made, "may leave out a group for good"));
  EXPECT_FALSE(has_note(made, "did not run any more"));
}

TEST(Starvation, ASubscriptionOfABusyGroupStarvesBetweenItsRuns) {
  Schedule robot;
  robot.add_timer(21, 100);
  robot.add_timer(23, 100);
  robot.publisher(10, 1, "/points");
  robot.subscription(40, 1, "/points", 41);
  for (std::int64_t i = 1; i <= 30; ++i) {
    robot.publish_at(100 * i + 1, 10, static_cast<std::uint64_t>(i));
    if (i % 10 == 1) {
      robot.take_and_run(i % 2, 40, static_cast<std::uint64_t>(i), 41, 100 * i + 10, 100 * i + 20);
      robot.run(i % 2, 21, 100 * i + 20, 100 * i + 100);
    } else {
      robot.run(i % 2, 21, 100 * i, 100 * i + 100);
    }
    robot.run(1 - i % 2, 23, 100 * i, 100 * i + 50);
  }
  const TracedModel made = robot.play();
  EXPECT_TRUE(has_note(made, "callback 'n_points' starved"));
  EXPECT_TRUE(has_note(made, "it starved 3 times, this is the longest"));
  EXPECT_TRUE(has_note(made, "'n_timer_1' of its group began"));
  EXPECT_EQ(made.application.callbacks[0].group, "default");
  EXPECT_EQ(made.application.callbacks[2].group, "default");
}

}  // namespace
}  // namespace rclrt::trace
