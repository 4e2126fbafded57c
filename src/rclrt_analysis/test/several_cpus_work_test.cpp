// SPDX-License-Identifier: Apache-2.0
/// Bounds of executors on several CPUs: how much work of others is within the time of a chain.
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "case_studies.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

double longest_ms(const model::Application& application, std::size_t chain) {
  const auto simulated = simulate(simulated_system(application, ExecutorKind::kPreemptive),
                                  {.horizon_ns = 4'000'000'000});
  return static_cast<double>(simulated.chains[chain].response.worst_ns) / 1e6;
}

/// `low` takes 2 after two timers that take 4 each, on two CPUs.
model::Application two_before_one(double period_of_b, double period_of_low) {
  return on_cpus(Builder()
                     .timer("a", 10, 4)
                     .timer("b", period_of_b, 4)
                     .timer("low", period_of_low, 2)
                     .chain("a", {"a"}, 3)
                     .chain("b", {"b"}, 2)
                     .chain("low", {"low"}, 1)
                     .done(),
                 2);
}

TEST(SeveralCpusWork, StatedOffsetsSayWhatIsLeftAndWhatFollows) {
  auto application = two_before_one(10, 10);
  EXPECT_EQ(bounds_ms(application)[2], 2 + 4) << "all may be released at once";
  const auto with_offset = [&](double offset) {
    set_offset(application, 0, 0);
    set_offset(application, 1, 0);
    set_offset(application, 2, offset);
    const double bound = bounds_ms(application)[2];
    EXPECT_EQ(longest_ms(application, 2), bound) << offset;
    return bound;
  };
  EXPECT_EQ(with_offset(0), 6);
  EXPECT_EQ(with_offset(3), 3) << "1 is left of a and b";
  EXPECT_EQ(with_offset(4), 2);
  EXPECT_EQ(with_offset(8), 2) << "a and b follow right after it";
  EXPECT_EQ(with_offset(9), 6) << "they follow in its last 1";
}

TEST(SeveralCpusWork, EachReleaseOfATimerHasItsOwnPhases) {
  auto application = two_before_one(15, 30);
  set_offset(application, 0, 0);
  set_offset(application, 1, 0);
  set_offset(application, 2, 5);  // a: 5 before and after; b: 5 before, 10 after
  EXPECT_EQ(bounds_ms(application)[2], 2);
  application = two_before_one(15, 10);
  set_offset(application, 0, 0);
  set_offset(application, 1, 0);
  set_offset(application, 2, 3);  // b: 3 before, then 2 after, then 8 after
  EXPECT_EQ(bounds_ms(application)[2], 3);
  EXPECT_EQ(longest_ms(application, 2), 3);
  // Nothing is known of when b is released.
  std::get<model::Timer>(application.callbacks[1].trigger).offset_stated = false;
  EXPECT_EQ(bounds_ms(application)[2], 3);
  std::get<model::Timer>(application.callbacks[0].trigger).offset_stated = false;
  EXPECT_EQ(bounds_ms(application)[2], 6);
}

TEST(SeveralCpusWork, ALateTimerIsLateByItsOffset) {
  auto application = two_before_one(10, 10);
  for (std::size_t i = 0; i < 3; ++i) {
    set_offset(application, i, i == 2 ? 4 : 0);
  }
  const Overheads late{.timer_jitter = ms(1).count()};
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive, late)[2], 1 + 1 + 2);
}

// The window is a hundred periods long, but within the time of low, each input has only three
// messages. If all releases of a window counted, the synchroniser would have a CPU of its own, and
// low would wait for 26 on the other one.
TEST(SeveralCpusWork, ASynchroniserFormsNoMoreSetsThanItGetsMessages) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 10, 1)
                                       .timer("b", 10, 1)
                                       .sync("s", "a", "b", 2, 1000)
                                       .timer("long", 100, 20)
                                       .timer("low", 100, 5)
                                       .chain("a", {"a", "s"}, 5)
                                       .chain("b", {"b", "s"}, 4)
                                       .chain("long", {"long"}, 3)
                                       .chain("low", {"low"}, 1)
                                       .done(),
                                   2);
  EXPECT_GE(bounds_ms(application)[3], longest_ms(application, 3));
  EXPECT_LT(bounds_ms(application)[3], 22);
}

}  // namespace
}  // namespace rclrt::analysis
