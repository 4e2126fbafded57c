// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_steps.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/judge.hpp"

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

TEST(Steps, SegmentsOfChainsThatSampleAreWholeChains) {
  auto application = Builder()
                         .timer("tick", 10, 1)
                         .subscription("work", "tick", 2)
                         .chain("control", {"tick", "work"}, 2)
                         .timer("log", 20, 1)
                         .chain("log", {"log"}, 1)
                         .done();
  application.cause_effect_chains = {
      {.id = "path", .callbacks = {0, 1, 2}, .segments = {{.chain = 0}, {.chain = 1}}}};
  const auto steps = with_steps(application);
  EXPECT_EQ(steps.cause_effect_chains.front().segments,
            (std::vector<model::Segment>{{.chain = 1}, {.chain = 2}}));
  const auto bound = [](const model::Application& each) {
    return judge(each, ExecutorKind::kPreemptive, {}).cause_effect_chains.front().reaction;
  };
  EXPECT_EQ(bound(steps), bound(application));
}

}  // namespace
}  // namespace rclrt::analysis
