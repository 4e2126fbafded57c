// SPDX-License-Identifier: Apache-2.0
// Misses in a chain over three processes, as reported to an operator.
#include "program.hpp"
#include "rclcpp_fixture.hpp"

namespace rclrt_robot::test {
namespace {

TEST(MonitoredChain, EachMissIsToldAndNoneIsInventedAndEachIsBlamedOnItsCause) {
  Program chain("CHAIN", {"8"});
  EXPECT_EQ(chain.exit_code(120s), 0) << chain.output();
}

}  // namespace
}  // namespace rclrt_robot::test
