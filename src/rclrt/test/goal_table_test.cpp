// SPDX-License-Identifier: Apache-2.0
#include "rclrt/detail/goal_table.hpp"

#include <gtest/gtest.h>

#include <action_msgs/srv/cancel_goal.hpp>
#include <vector>

#include "rclrt/detail/time_message.hpp"

namespace rclrt::detail {
namespace {

using Response = action_msgs::srv::CancelGoal::Response;
using Goals = std::vector<GoalUUID>;

constexpr GoalUUID kA = {1};
constexpr GoalUUID kB = {2};
constexpr GoalUUID kC = {3};

action_msgs::msg::GoalInfo wanted(const GoalUUID& id, std::int64_t stamp_ns) {
  action_msgs::msg::GoalInfo info;
  info.goal_id.uuid = id;
  info.stamp = time_message(stamp_ns);
  return info;
}

TEST(GoalTable, AGoalGoesThroughTheStatesOfRclAction) {
  GoalTable table;
  EXPECT_EQ(table.status(kA), GoalStatus::kUnknown);
  EXPECT_FALSE(table.advance(kA, GOAL_EVENT_EXECUTE, 0));
  EXPECT_TRUE(table.accept(kA, 1));
  EXPECT_FALSE(table.accept(kA, 2)) << "there is one already";
  EXPECT_FALSE(table.advance(kA, GOAL_EVENT_SUCCEED, 0)) << "it does not execute yet";
  EXPECT_TRUE(table.advance(kA, GOAL_EVENT_EXECUTE, 0));
  EXPECT_FALSE(table.advance(kA, GOAL_EVENT_EXECUTE, 0));
  EXPECT_FALSE(table.advance(kA, GOAL_EVENT_CANCELED, 0)) << "no cancellation was requested";
  EXPECT_TRUE(table.advance(kA, GOAL_EVENT_CANCEL_GOAL, 0));
  EXPECT_EQ(table.status(kA), GoalStatus::kCanceling);
  EXPECT_TRUE(table.advance(kA, GOAL_EVENT_CANCELED, 0));
  EXPECT_EQ(table.status(kA), GoalStatus::kCanceled);
  EXPECT_FALSE(table.advance(kA, GOAL_EVENT_SUCCEED, 0)) << "an end is final";
}

TEST(GoalTable, ACancelRequestMeansAnIdOrAllUpToAStampOrBothOrAll) {
  GoalTable table;
  table.accept(kA, 10);
  table.accept(kB, 20);
  table.accept(kC, 30);
  EXPECT_EQ(table.to_cancel(wanted(kB, 0)).goals, Goals{kB});
  EXPECT_EQ(table.to_cancel(wanted({}, 20)).goals, (Goals{kA, kB}));
  EXPECT_EQ(table.to_cancel(wanted(kC, 10)).goals, (Goals{kA, kC}));
  EXPECT_EQ(table.to_cancel(wanted({}, 0)).goals, (Goals{kA, kB, kC}));
}

TEST(GoalTable, ACancelRequestForAGoalThatIsUnknownOrHasEndedIsToldSo) {
  GoalTable table;
  EXPECT_EQ(table.to_cancel(wanted(kA, 0)).return_code, Response::ERROR_UNKNOWN_GOAL_ID);
  table.accept(kA, 10);
  table.advance(kA, GOAL_EVENT_EXECUTE, 0);
  EXPECT_EQ(table.to_cancel(wanted(kA, 0)).return_code, Response::ERROR_NONE);
  table.advance(kA, GOAL_EVENT_SUCCEED, 0);
  EXPECT_EQ(table.to_cancel(wanted(kA, 0)).return_code, Response::ERROR_GOAL_TERMINATED);
  EXPECT_EQ(table.to_cancel(wanted({}, 0)).goals, Goals{});
}

TEST(GoalTable, StatusesAreInOrderOfAcceptance) {
  GoalTable table;
  table.accept(kB, 2'000'000'005);
  table.accept(kA, 7);
  table.advance(kA, GOAL_EVENT_EXECUTE, 0);
  const auto list = table.statuses().status_list;
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].goal_info.goal_id.uuid, kB);
  EXPECT_EQ(list[0].goal_info.stamp.sec, 2);
  EXPECT_EQ(list[0].goal_info.stamp.nanosec, 5U);
  EXPECT_EQ(list[0].status, 1);
  EXPECT_EQ(list[1].goal_info.goal_id.uuid, kA);
  EXPECT_EQ(list[1].status, 2);
}

TEST(GoalTable, OnlyGoalsThatEndedLongEnoughAgoExpire) {
  GoalTable table;
  for (const GoalUUID& id : {kA, kB, kC}) {
    table.accept(id, 1);
    table.advance(id, GOAL_EVENT_EXECUTE, 1);
  }
  table.advance(kA, GOAL_EVENT_SUCCEED, 100);
  table.advance(kB, GOAL_EVENT_ABORT, 150);
  EXPECT_EQ(table.expire(199, 100), Goals{});
  EXPECT_EQ(table.expire(200, 100), Goals{kA});
  EXPECT_EQ(table.status(kA), GoalStatus::kUnknown);
  EXPECT_EQ(table.expire(1000, 100), Goals{kB});
  EXPECT_EQ(table.status(kC), GoalStatus::kExecuting);
}

}  // namespace
}  // namespace rclrt::detail
