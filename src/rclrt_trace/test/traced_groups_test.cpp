// SPDX-License-Identifier: Apache-2.0
// Groups of callbacks that are not in a trace, from the runs for which callbacks waited.
#include <optional>
#include <string>

#include "schedule.hpp"

namespace rclrt::trace {
namespace {

using Group = std::optional<std::string>;

/// Timers 21 and 22 take turns, timer 23 runs beside both. `waits` is the number of times that 22
/// waits for 21, by 8 ms, while the other thread is free.
TracedModel taking_turns(int waits) {
  Schedule robot;
  robot.add_timer(21, 20);
  robot.add_timer(22, 20);
  robot.add_timer(23, 20);
  for (std::int64_t i = 1; i <= 10; ++i) {
    const std::int64_t from = 20 * i + (i <= waits ? 8 : 0);
    robot.run(i % 2, 21, 20 * i + (i <= waits ? 0 : 6), 20 * i + (i <= waits ? 8 : 10));
    robot.run(i % 2, 22, from, from + 6);
    robot.run(1 - i % 2, 23, i <= waits ? from - 1 : from, from + 9);
  }
  return robot.play();
}

TEST(TracedGroups, CallbacksThatWaitForEachOtherAreInOneGroup) {
  const TracedModel made = taking_turns(10);
  ASSERT_EQ(made.application.callbacks.size(), 3U);
  EXPECT_EQ(made.application.callbacks[0].group, Group("default"));
  EXPECT_EQ(made.application.callbacks[1].group, Group("default"));
  EXPECT_EQ(made.application.callbacks[2].group, Group());
  EXPECT_TRUE(has_note(made, "of 1 node the callback groups are not in the trace"));
}

TEST(TracedGroups, FewWaitsMayHaveOtherReasons) {
  const TracedModel made = taking_turns(2);
  EXPECT_EQ(made.application.callbacks[0].group, Group());
  EXPECT_EQ(made.application.callbacks[1].group, Group());
}

TEST(TracedGroups, CallbacksThatRanAtOnceAreInNoGroupAlthoughTheyWaited) {
  Schedule robot;
  robot.add_timer(21, 20);
  robot.add_timer(22, 20);
  for (std::int64_t i = 1; i <= 10; ++i) {
    robot.run(i % 2, 21, 20 * i, 20 * i + 8);
    robot.run(1 - i % 2, 22, 20 * i + (i == 5 ? 7 : 8), 20 * i + 12);
  }
  const TracedModel made = robot.play();
  EXPECT_EQ(made.application.callbacks[0].group, Group());
  EXPECT_EQ(made.application.callbacks[1].group, Group());
}

// The node always runs something, but not always one of its two other callbacks.
TEST(TracedGroups, ACancelledTimerIsInNoGroup) {
  Schedule robot;
  robot.add_timer(21, 20);
  robot.add_timer(22, 20);
  robot.add_timer(23, 20);
  robot.run(0, 22, 5, 6);  // once
  for (std::int64_t i = 1; i <= 20; ++i) {
    const std::int64_t longer = i % 2 == 0 ? 21 : 23;
    robot.run(i % 2, 21, 20 * i, 20 * i + (longer == 21 ? 20 : 10));
    robot.run(1 - i % 2, 23, 20 * i, 20 * i + (longer == 23 ? 20 : 10));
  }
  const TracedModel made = robot.play();
  EXPECT_TRUE(has_note(made, "1 callback did not run any more"));
  for (const model::Callback& callback : made.application.callbacks) {
    EXPECT_EQ(callback.group, Group()) << callback.id;
  }
}

TEST(TracedGroups, TwoGroupsOfANodeHaveTwoNames) {
  Schedule robot;
  for (const std::uint64_t callback : {21U, 22U, 23U, 24U}) {
    robot.add_timer(callback, 40);
  }
  for (std::int64_t i = 1; i <= 10; ++i) {  // 22 waits for 21, and 24 for 23
    const std::int64_t first = i % 2 == 0 ? 8 : 14;
    const std::int64_t second = 22 - first;
    const std::int64_t one = i / 2 % 2;
    robot.run(one, 21, 40 * i, 40 * i + first);
    robot.run(one, 22, 40 * i + first, 40 * i + first + 2);
    robot.run(1 - one, 23, 40 * i, 40 * i + second);
    robot.run(1 - one, 24, 40 * i + second, 40 * i + second + 2);
  }
  const TracedModel made = robot.play();
  const auto& callbacks = made.application.callbacks;
  ASSERT_EQ(callbacks.size(), 4U);
  EXPECT_EQ(callbacks[0].group, Group("default"));
  EXPECT_EQ(callbacks[1].group, Group("default"));
  EXPECT_EQ(callbacks[2].group, Group("n_group"));
  EXPECT_EQ(callbacks[3].group, Group("n_group"));
}

}  // namespace
}  // namespace rclrt::trace
