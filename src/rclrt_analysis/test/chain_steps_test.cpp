// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_steps.hpp"

#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

TEST(Steps, AreTheBeginningsOfEachChainWithBoundsThatGrow) {
  const auto application = Builder()
                               .timer("tick", 10, 1)
                               .subscription("work", "tick", 2)
                               .subscription("act", "work", 0.5)
                               .chain("control", {"tick", "work", "act"}, 2)
                               .timer("log", 20, 1)
                               .chain("log", {"log"}, 1)
                               .done();
  const auto steps = with_steps(application);
  ASSERT_EQ(steps.chains.size(), 4U);
  EXPECT_EQ(steps.chains[1].id, "control/2");
  EXPECT_EQ(steps.effective_priority(0), application.effective_priority(0));
  const auto bounds = chain_bounds(steps);
  EXPECT_EQ(bounds[0].bound, ms(1).count());
  EXPECT_EQ(bounds[1].bound, ms(3).count());
  EXPECT_EQ(bounds[2].bound, ms(3.5).count());
  EXPECT_EQ(bounds[2].bound, chain_bounds(application)[0].bound);
  EXPECT_EQ(bounds[3].bound, chain_bounds(application)[1].bound);
}

}  // namespace
}  // namespace rclrt::analysis
