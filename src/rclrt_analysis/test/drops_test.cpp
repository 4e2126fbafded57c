// SPDX-License-Identifier: Apache-2.0
/// A release may find the previous instance running, because a callback returns after the more
/// urgent ones that it has released.
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

/// x takes 5 of 20 above all others. a takes 1 of 10, drops releases while it runs, and releases b,
/// which is more urgent.
model::Application publisher_that_is_preempted(double wcet_of_b) {
  model::Application application = Builder()
                                       .timer("x", 20, 5)
                                       .priority(2)
                                       .timer("a", 10, 1)
                                       .priority(0)
                                       .subscription("b", "a", wcet_of_b)
                                       .priority(1)
                                       .chain("one", {"a", "b"}, 0)
                                       .done();
  application.callbacks[1].overload = model::Overload::kSkipIfRunning;
  return application;
}

// x, a and b take 10 together, and then a returns. So the release at 10 may find a running.
TEST(Drops, AReleaseAtTheVeryEndOfAMoreUrgentSuccessorFindsThePublisherRunning) {
  const auto application = publisher_that_is_preempted(4);
  EXPECT_EQ(queue_bounds(application)[1].pending, 2);
  const ChainBound bound = chain_bounds(application)[0];
  EXPECT_EQ(bound.bound, ms(10).count());
  EXPECT_EQ(bound.verdict, Verdict::kConditional);
  ASSERT_FALSE(bound.assumptions.empty());
  EXPECT_EQ(bound.assumptions[0], "the overload policy of 'a' drops no instance");
}

TEST(Drops, APublisherThatReturnsBeforeItsNextReleaseDropsNothing) {
  const ChainBound bound = chain_bounds(publisher_that_is_preempted(3.9))[0];
  EXPECT_EQ(bound.verdict, Verdict::kProved);
  EXPECT_TRUE(bound.assumptions.empty());
}

TEST(Drops, APublisherThatIsMoreUrgentReturnsAtOnce) {
  auto application = publisher_that_is_preempted(4);
  application.callbacks[1].priority = 1;
  EXPECT_EQ(queue_bounds(application)[1].pending, 1);
}

}  // namespace
}  // namespace rclrt::analysis
