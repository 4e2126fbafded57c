// SPDX-License-Identifier: Apache-2.0
// Who may enter a group, who waits, and who comes next.
#include "rclrt/executor/group.hpp"

#include <gtest/gtest.h>

#include <array>

#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

class GroupOrder : public ::testing::Test {
 protected:
  GroupOrder() {
    std::uint64_t order = 0;
    for (Instance* instance : {&low_, &low_later_, &middle_, &high_}) {
      instance->order = order++;
    }
    low_.callback = low_later_.callback = &low_callback_;
    middle_.callback = &middle_callback_;
    high_.callback = &high_callback_;
  }

  TestCallback low_callback_{named("low", 1), nullptr};
  TestCallback middle_callback_{named("middle", 2), nullptr};
  TestCallback high_callback_{named("high", 3), nullptr};
  Instance low_;
  Instance low_later_;
  Instance middle_;
  Instance high_;
  Group group_;
};

TEST_F(GroupOrder, OneIsInsideAndTheNextAfterItIsTheMostUrgentThatWaits) {
  EXPECT_TRUE(group_.enter(&low_));
  EXPECT_FALSE(group_.enter(&low_later_));
  EXPECT_FALSE(group_.enter(&middle_));
  EXPECT_FALSE(group_.enter(&high_));
  EXPECT_EQ(group_.leave(), &high_);
  EXPECT_TRUE(group_.enter(&high_));
  EXPECT_EQ(group_.leave(), &middle_);
  EXPECT_TRUE(group_.enter(&middle_));
  EXPECT_EQ(group_.leave(), &low_later_);
  EXPECT_TRUE(group_.enter(&low_later_));
  EXPECT_EQ(group_.leave(), nullptr);
}

TEST_F(GroupOrder, WhileTheGroupIsReservedOnlyAMoreUrgentMemberPasses) {
  ASSERT_TRUE(group_.enter(&low_));
  ASSERT_FALSE(group_.enter(&middle_));
  ASSERT_EQ(group_.leave(), &middle_);
  EXPECT_FALSE(group_.enter(&low_later_)) << "it would block the middle one a second time";
  EXPECT_TRUE(group_.enter(&high_));
  EXPECT_EQ(group_.leave(), nullptr) << "the middle one still has its reservation";
  EXPECT_TRUE(group_.enter(&middle_));
  EXPECT_EQ(group_.leave(), &low_later_);
}

TEST_F(GroupOrder, AReservationMovesToAMoreUrgentMemberThatHadToWaitMeanwhile) {
  Instance high_later;
  high_later.callback = &high_callback_;
  high_later.order = 9;
  ASSERT_TRUE(group_.enter(&low_));
  ASSERT_FALSE(group_.enter(&middle_));
  ASSERT_EQ(group_.leave(), &middle_);  // but its lane is kept from running
  ASSERT_TRUE(group_.enter(&high_));
  ASSERT_FALSE(group_.enter(&high_later));
  EXPECT_EQ(group_.leave(), &high_later);
  EXPECT_FALSE(group_.enter(&middle_)) << "now the reservation is another's";
  EXPECT_TRUE(group_.enter(&high_later));
  EXPECT_EQ(group_.leave(), &middle_);
}

TEST_F(GroupOrder, AMemberThatWasPassedKeepsItsPlaceBeforeLaterOnesOfItsLevel) {
  ASSERT_TRUE(group_.enter(&middle_));
  ASSERT_FALSE(group_.enter(&low_));
  ASSERT_EQ(group_.leave(), &low_);
  ASSERT_TRUE(group_.enter(&high_));
  ASSERT_FALSE(group_.enter(&low_later_));
  ASSERT_FALSE(group_.enter(&low_));  // it found the group busy again
  EXPECT_EQ(group_.leave(), &low_);
  EXPECT_TRUE(group_.enter(&low_));
  EXPECT_EQ(group_.leave(), &low_later_);
}

TEST_F(GroupOrder, ForgettingTheMemberWithTheReservationGivesTheNext) {
  ASSERT_TRUE(group_.enter(&high_));
  ASSERT_FALSE(group_.enter(&middle_));
  ASSERT_FALSE(group_.enter(&low_));
  ASSERT_EQ(group_.leave(), &middle_);
  EXPECT_EQ(group_.forget(&middle_), &low_);
  EXPECT_EQ(group_.forget(&high_), nullptr) << "it has no reservation";
}

TEST_F(GroupOrder, MembersOfAReentrantGroupAlwaysEnter) {
  Group reentrant(GroupType::kReentrant);
  EXPECT_TRUE(reentrant.enter(&low_));
  EXPECT_TRUE(reentrant.enter(&high_));
  EXPECT_EQ(reentrant.leave(), nullptr);
}

}  // namespace
}  // namespace rclrt::executor::test
