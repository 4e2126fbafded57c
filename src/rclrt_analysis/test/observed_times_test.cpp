// SPDX-License-Identifier: Apache-2.0
/// Bounds from execution times that were observed.
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

TEST(ObservedTimes, MakeABoundConditional) {
  auto application =
      Builder().timer("a", 10, 1).subscription("b", "a", 1).chain("one", {"a", "b"}, 1).done();
  const auto stated = chain_bounds(application);
  EXPECT_EQ(stated[0].verdict, Verdict::kProved);
  application.callbacks[0].observed = model::ObservedTimes{.n = 7};
  application.callbacks[1].observed = model::ObservedTimes{.n = 500};
  const auto observed = chain_bounds(application);
  EXPECT_EQ(observed[0].verdict, Verdict::kConditional);
  EXPECT_EQ(observed[0].bound, stated[0].bound);
  ASSERT_EQ(observed[0].assumptions.size(), 1U);
  EXPECT_EQ(observed[0].assumptions[0],
            "the execution times of 2 callbacks are the longest observed, of 7 runs at least: none "
            "takes longer");
}

}  // namespace
}  // namespace rclrt::analysis
