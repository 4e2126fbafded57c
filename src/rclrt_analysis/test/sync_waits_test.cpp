// SPDX-License-Identifier: Apache-2.0
/// How long messages wait in synchronisers of several inputs, and behind other synchronisers.
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

// A set with an imu also has a camera and a lidar. By 54 after the imu's release, the next imu (10
// + 4) and the next lidar (50 + 4) have arrived, and make a shorter set with any later camera.
// Between its release and its arrival, each of the three waits for 1 of the others and of a set.
// From the camera's release it is 4 again. The window of a second is never waited for.
TEST(SyncWaits, OfThreeInputsAMessageWaitsForTheNextMessagesOfTheOthers) {
  const model::Application application = Builder()
                                             .timer("imu", 10, 1)
                                             .timer("camera", 50, 1)
                                             .timer("lidar", 50, 1)
                                             .sync("fuse", {"imu", "camera", "lidar"}, 1)
                                             .chain("imu", {"imu", "fuse"}, 1)
                                             .chain("camera", {"camera", "fuse"}, 1)
                                             .done();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, ms(50 + 4 + 4).count());
  EXPECT_EQ(bounds[1].bound, ms(50 + 4 + 4).count());
  EXPECT_TRUE(bounds[0].assumptions.empty());
}

// By 5 + 2 after a camera's release the next wheel has arrived. An imu that leaves before the
// camera's message does is no later, so the one that completes its set is released by 4 after that.
// From there it is 1.5: the imu, the next wheel and the set.
TEST(SyncWaits, ARareMessageWaitsForThePeriodsOfTheOthersOnly) {
  const model::Application application = Builder()
                                             .timer("imu", 4, 0.5)
                                             .timer("wheel", 5, 0.5)
                                             .timer("camera", 100, 0.5)
                                             .sync("fuse", {"imu", "wheel", "camera"}, 0.5)
                                             .chain("camera", {"camera", "fuse"}, 1)
                                             .done();
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(4 + 5 + 2 + 1.5).count());
}

// c has arrived by 2.5: the three timers, and a set of each sync. The set of s that then completes
// t is released by an a or b within 10, and takes 2 to the end of t: a, b, s and t. A window of s
// that is shorter than the 13 until the next a or b has arrived need not give a set for each of
// them, so c may wait for the window of t.
TEST(SyncWaits, BehindASyncTheNextSetIsWaitedFor) {
  const auto application = [](double window) {
    return Builder()
        .timer("a", 10, 0.5)
        .timer("b", 10, 0.5)
        .timer("c", 200, 0.5)
        .sync("s", "a", "b", 0.5, window)
        .sync("t", "s", "c", 0.5, 150)
        .chain("c", {"c", "t"}, 1)
        .chain("a", {"a", "s", "t"}, 1)
        .chain("b", {"b", "s", "t"}, 1)
        .done();
  };
  EXPECT_EQ(chain_bounds(application(1000))[0].bound, ms(2.5 + 10 + 2).count());
  EXPECT_GE(chain_bounds(application(5))[0].bound, ms(150).count());
}

// Two messages of f may wait for their run, behind the 5 of a. If it keeps only one, some are lost,
// and the next one of f may be late. The bound by the window has no condition.
TEST(SyncWaits, ABoundWithoutAConditionGoesBeforeALowerOneWithAny) {
  auto application = Builder()
                         .timer("a", 50, 5)
                         .timer("fast", 3, 0.1)
                         .priority(2)
                         .subscription("f", "fast", 0.1)
                         .timer("c", 50, 1)
                         .sync("s", {"a", "f", "c"}, 1)
                         .chain("a", {"a", "s"}, 1)
                         .done();
  for (const std::size_t depth : {10U, 1U}) {
    std::get<model::Subscription>(application.callbacks[2].trigger).depth = depth;
    std::get<model::Sync>(application.callbacks[4].trigger).depth = 30;
    const ChainBound bound = chain_bounds(application).front();
    EXPECT_TRUE(bound.assumptions.empty());
    EXPECT_EQ(bound.bound < ms(200).count(), depth == 10U) << *bound.bound;
  }
}

/// Both are released at 0.
model::Application slow_and_fast(double period_of_fast) {
  auto application = Builder()
                         .timer("slow", 10, 1)
                         .timer("fast", period_of_fast, 1)
                         .sync("s", "slow", "fast", 1)
                         .chain("slow", {"slow", "s"}, 1)
                         .chain("fast", {"fast", "s"}, 1)
                         .done();
  set_offset(application, 0, 0);
  set_offset(application, 1, 0);
  return application;
}

// slow arrives by 3, so the fast of a set that it completed was released by then, and the next one
// by 3 + 7: at least as early as the next slow. The offsets allow whole milliseconds only, so it
// waits for no later fast. fast waits for less than its own next release, which has arrived by 10.
TEST(SyncWaits, AMessageThatIsNoMoreFrequentWaitsForNone) {
  const auto bounds = chain_bounds(slow_and_fast(7));
  EXPECT_EQ(bounds[0].bound, ms(3).count());
  EXPECT_EQ(bounds[1].bound, ms(7 + 3 + 3).count());
  EXPECT_TRUE(bounds[0].assumptions.empty());
}

// fast is the slower one, and waited for.
TEST(SyncWaits, AMessageThatIsMoreFrequentWaits) {
  EXPECT_GE(chain_bounds(slow_and_fast(13))[0].bound, ms(9 + 2).count());
}

// a, b and c are released at 0, 2 and 7 of each 10. The first set is 7 long, so none is longer: an
// a waits for the c after it, and a c for the a and the b after it, if an earlier a and b have left
// with an earlier c. A b does not wait 8 for an a.
TEST(SyncWaits, SetsOfOnePeriodAreNoLongerThanTheFirst) {
  auto application = Builder()
                         .timer("a", 10, 0.25)
                         .timer("b", 10, 0.25)
                         .timer("c", 10, 0.25)
                         .sync("s", {"a", "b", "c"}, 0.25)
                         .chain("a", {"a", "s"}, 1)
                         .chain("b", {"b", "s"}, 1)
                         .chain("c", {"c", "s"}, 1)
                         .done();
  set_offset(application, 0, 0);
  set_offset(application, 1, 2);
  set_offset(application, 2, 7);
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, ms(7 + 0.5).count());
  EXPECT_EQ(bounds[1].bound, ms(5 + 0.5).count());
  EXPECT_EQ(bounds[2].bound, ms(5 + 0.5).count());
  std::get<model::Sync>(application.callbacks[3].trigger).depth =
      2;  // it may have to hold three of an input
  EXPECT_GT(chain_bounds(application)[1].bound, ms(8).count());
}

}  // namespace
}  // namespace rclrt::analysis
