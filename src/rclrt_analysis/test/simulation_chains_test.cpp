// SPDX-License-Identifier: Apache-2.0
// Chains: the counter-examples to the thesis's schedulability test, worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated.hpp"

namespace rclrt::analysis::test {
namespace {

using testing::ElementsAre;

/// Figure 5.7 of the thesis with the priorities of figure 5.8; `offset` is that of tau_3.
System figure_5_7(double offset) {
  System system(ExecutorKind::kPreemptive);
  const std::size_t c1 = system.timer(5, 1, 2);
  const std::size_t c2 = system.subscription(c1, 1, 2);
  const std::size_t c3 = system.timer(10, 1, 1);
  const std::size_t c6 = system.timer(10, 1, 1, offset);
  const std::size_t c7 = system.subscription(c6, 1, 1);
  const std::size_t c9 = system.add(0, 1, SyncTrigger{.pairing = SyncTrigger::Pairing::kInOrder});
  const std::size_t c4 = system.add(1, 1, MessageTrigger{});
  const std::size_t c8 = system.add(1, 0, MessageTrigger{});
  const std::size_t c5 = system.subscription(c4, 1, 1);
  system.connect(c3, c9, 0);
  system.connect(c7, c9, 1);
  system[c9].topics.push_back({{c4, 0, {}}, {c8, 0, {}}});
  system.chain({c1, c2});
  system.chain({c3, c9, c4, c5});
  system.chain({c6, c7, c9, c8});
  return system;
}

TEST(SimulatedChains, of_figure_5_7_have_the_responses_that_the_thesis_predicts_when_in_phase) {
  // a=c1 b=c2 c=c3 d=c6 e=c7 f=c9 g=c4 h=c8 i=c5
  EXPECT_EQ(schedule(figure_5_7(0), 10),
            "a 0-1 b 1-2 c 2-3 d 3-4 e 4-5 a 5-6 b 6-7 g 7-8 i 8-9 h 9-10");
  EXPECT_THAT(worst_chains(figure_5_7(0), 101), ElementsAre(2, 9, 10));
}

TEST(SimulatedChains, of_figure_5_7_take_twice_as_long_as_predicted_out_of_phase) {
  // Errata: with an offset of 9.75 of tau_3 the 9 of tau_2 becomes 18.75.
  EXPECT_THAT(worst_chains(figure_5_7(9.75), 1001)[1], 18.75);
}

/// tau_1 = {a 1, s 1.5} T 4, tau_2 = {b, s, c} T 8 of the errata. Two callbacks that exclude each
/// other model the shared callback s, so that c runs only for the messages of its own chain.
System shared_callback(double b_wcet, double c_wcet) {
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(4, 1, 2);
  const std::size_t s_of_1 = system.subscription(a, 1.5, 2);
  const std::size_t b = system.timer(8, b_wcet, 1);
  const std::size_t s_of_2 = system.subscription(b, 1.5, 2);
  const std::size_t c = system.subscription(s_of_2, c_wcet, 1);
  system[s_of_1].group = system[s_of_2].group = 0;
  system.chain({a, s_of_1});
  system.chain({b, s_of_2, c});
  return system;
}

TEST(SimulatedChains, that_share_a_callback_run_it_once_for_each_of_them) {
  // Predicted 2.5 and 4, for s counted once.
  // 0   1    2.5  3     4.5   5.5    7   8
  // a   s(1) b    s(2)  a     s(1)   c
  EXPECT_EQ(schedule(shared_callback(0.5, 1), 8),
            "a 0-1 b 1-2.5 c 2.5-3 d 3-4.5 a 4.5-5.5 b 5.5-7 e 7-8");
  EXPECT_THAT(worst_chains(shared_callback(0.5, 1), 801), ElementsAre(3, 8));
}

TEST(SimulatedChains,
     that_share_a_callback_may_overload_the_cpu_where_the_thesis_says_schedulable) {
  // b = 1, c = 2: U = 2.5 / 4 + 4.5 / 8 = 1.19. The backlog of tau_2 grows without end.
  System system = shared_callback(1, 2);
  const double once = worst_chains(system, 80)[1];
  EXPECT_GT(once, 8);
  EXPECT_GT(worst_chains(system, 160)[1], 1.5 * once);
}

TEST(SimulatedChains, with_a_latency_between_callbacks_suspend) {
  // Errata: tau_1 = {1, hop 0..3, 1} T 5, tau_2 C = 3: predicted 5, observed 6.
  // 0   1       4   5   6   7
  // a   c       b   a . .
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(5, 1, 2);
  const std::size_t b = system.add(1, 2, MessageTrigger{});
  system[a].topics.push_back({{b, 0, TimeDistribution::list({ms(3), 0})}});
  system.timer(10, 3, 1, 4);
  EXPECT_EQ(schedule(system, 10), "a 0-1 b 4-5 a 5-6 b 6-7 c 7-10");
  EXPECT_THAT(worst_responses(system, 10.5)[2], 6);
}

TEST(SimulatedChains, with_a_latency_keep_the_order_of_their_messages) {
  // The message of 1 comes at 11, when the next one is published, which takes no time.
  struct Order final : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      if (instance.callback == 1) {
        seen.push_back(instance.tokens.front().instance);
      }
    }
    std::vector<std::uint64_t> seen;
  } order;
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(10, 1, 2);
  const std::size_t b = system.add(1, 1, MessageTrigger{});
  system[a].topics.push_back({{b, 0, TimeDistribution::list({ms(10), 0})}});
  system.chain({a, b});
  system.run(19, &order);
  EXPECT_THAT(order.seen, ElementsAre(0, 1));
}

TEST(SimulatedChains, pass_on_the_release_of_their_timer) {
  struct Ends final : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      for (const SimulatedToken& token : instance.tokens) {
        seen.emplace_back(instance.callback, token.instance, to_ms(token.release_ns));
      }
    }
    std::vector<std::tuple<std::size_t, std::uint64_t, double>> seen;
  } ends;
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(10, 1, 1, 2);
  const std::size_t b = system.subscription(a, 1, 0);
  system.chain({a, b});
  system.run(20, &ends);
  EXPECT_THAT(ends.seen, ElementsAre(std::tuple(a, 0, 2.0), std::tuple(b, 0, 2.0),
                                     std::tuple(a, 1, 12.0), std::tuple(b, 1, 12.0)));
}

TEST(SimulatedChains, end_before_those_that_their_last_callback_wakes_at_a_lower_level) {
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(10, 1, 2);
  const std::size_t b = system.subscription(a, 5, 1);
  system.chain({a});
  system.chain({a, b});
  EXPECT_THAT(worst_chains(system, 20), ElementsAre(1, 6));
}

TEST(SimulatedChains, end_after_those_that_their_last_callback_wakes_at_a_higher_level) {
  // The publisher is preempted inside its publication, as in the real engine.
  System system(ExecutorKind::kPreemptive);
  const std::size_t a = system.timer(10, 1, 1);
  const std::size_t b = system.subscription(a, 5, 2);
  system.chain({a});
  system.chain({a, b});
  EXPECT_THAT(worst_chains(system, 20), ElementsAre(6, 6));
}

TEST(SimulatedChains, that_overload_the_cpu_grow_their_backlog_to_the_depth_and_then_drop) {
  System system(ExecutorKind::kPreemptive);
  system.timer(10, 12, 1);
  std::get<TimerTrigger>(system[0].trigger).depth = 3;
  const SimulationResult result = system.run(1200);
  // The timer's only worker reads the clock when it takes the next release, last at 1188.
  EXPECT_EQ(result.callbacks[0].counts.released, 119U);
  EXPECT_EQ(result.callbacks[0].counts.completed, 99U);  // one would end at the horizon
  EXPECT_EQ(result.callbacks[0].counts.pending(), 3U);   // one runs, two wait
  EXPECT_EQ(result.callbacks[0].counts.dropped, 17U);
}

}  // namespace
}  // namespace rclrt::analysis::test
