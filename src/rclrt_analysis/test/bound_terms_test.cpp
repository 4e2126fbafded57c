// SPDX-License-Identifier: Apache-2.0
// The terms of bounds in applications with many callbacks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

/// Returns timers of 1 s, each with a chain and a different execution time; the last one is the
/// least urgent.
model::Application many_timers(std::size_t count) {
  Builder builder;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = "t" + std::to_string(i);
    builder.timer(id, 1000, 0.01 * static_cast<double>(i + 1));
    builder.chain(id, {id}, static_cast<int>(count - i));
  }
  return builder.done();
}

Ticks sum_of(const std::vector<Contribution>& terms) {
  Ticks result = 0;
  for (const Contribution& term : terms) {
    result += term.total;
  }
  return result;
}

TEST(BoundTerms, TheSumOfTheShorterTermsIsTheLastOneOfMany) {
  constexpr std::size_t kTimers = 200;
  auto application = many_timers(kTimers);
  for (const std::vector<int>& cpus : {std::vector{0}, std::vector{0, 1}}) {
    application.executors[0].cpus = cpus;
    const auto bounds = chain_bounds(application);
    const auto whole =
        chain_bounds(application, ExecutorKind::kPreemptive, {}, {.all_terms_of = kTimers - 1});
    ASSERT_EQ(whole.back().why.size(), kTimers);
    EXPECT_EQ(whole.back().bound, bounds.back().bound);
    const std::vector<Contribution>& terms = bounds.back().why;
    ASSERT_EQ(terms.size(), Effort{}.terms + 1);
    for (std::size_t i = 0; i < Effort{}.terms; ++i) {
      EXPECT_EQ(terms[i].callback, whole.back().why[i].callback);
      EXPECT_EQ(terms[i].total, whole.back().why[i].total);
    }
    EXPECT_EQ(terms.back().kind, Contribution::Kind::kRest);
    EXPECT_EQ(terms.back().releases, static_cast<Ticks>(kTimers - Effort{}.terms));
    EXPECT_EQ(sum_of(terms), *bounds.back().bound);
    EXPECT_EQ(whole[100].why.size(), Effort{}.terms + 1);  // only one chain was to have all
  }
}

TEST(BoundTerms, OneTermMoreThanTheMostStays) {
  const std::size_t most = Effort{}.terms + 1;
  const auto bounds = chain_bounds(many_timers(most));
  EXPECT_EQ(bounds.back().why.size(), most);
  EXPECT_TRUE(std::ranges::none_of(bounds.back().why, [](const Contribution& term) {
    return term.kind == Contribution::Kind::kRest;
  }));
}

TEST(BoundTerms, TheTermsOfAllChainsGrowWithTheNumberOfChains) {
  constexpr std::size_t kTimers = 1000;
  std::size_t terms = 0;
  for (const ChainBound& each : chain_bounds(many_timers(kTimers))) {
    terms += each.why.size();
  }
  EXPECT_LE(terms, kTimers * (Effort{}.terms + 1));  // not kTimers^2 / 2
}

}  // namespace
}  // namespace rclrt::analysis
