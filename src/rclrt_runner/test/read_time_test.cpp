// SPDX-License-Identifier: Apache-2.0
#include "read_time.hpp"

#include <gtest/gtest.h>

namespace rclrt::runner {
namespace {

TEST(ReadTime, IsWhenTheOnlyMessageWasSent) {
  ReadTime read(std::nullopt);
  read.add_message(700);
  EXPECT_EQ(read.ns(), 700);
}

TEST(ReadTime, OfSeveralTheEarliestCounts) {
  // A message that was sent at 650 and is on its way must not count as read.
  ReadTime read(std::nullopt);
  read.add_message(700);
  read.add_message(600);
  EXPECT_EQ(read.ns(), 600);
}

TEST(ReadTime, AVariableIsReadNoLaterThanTheMessage) {
  ReadTime read(900);
  read.add_message(700);
  EXPECT_EQ(read.ns(), 700);
}

TEST(ReadTime, WithoutAMessageNothingWasRead) {
  // The first message may be on its way.
  ReadTime read(900);
  read.add_message(0);
  EXPECT_EQ(read.ns(), 1);
}

}  // namespace
}  // namespace rclrt::runner
