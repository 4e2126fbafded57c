// SPDX-License-Identifier: Apache-2.0
// Polling points and ready sets, with one thread and with several, as schedules worked by hand.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "simulated.hpp"

namespace rclrt::analysis::test {
namespace {

TEST(SimulatedWaitSet, runs_timers_before_subscriptions_and_each_in_order_of_registration) {
  // At 4 b, c and d are ready; the levels are ignored.
  System system(ExecutorKind::kWaitSet);
  const std::size_t a = system.timer(100, 4, 9);
  system.subscription(a, 1, 9);
  system.timer(100, 1, 1, 3);
  system.timer(100, 1, 5, 2);
  EXPECT_EQ(schedule(system, 20), "a 0-4 c 4-5 d 5-6 b 6-7");
}

TEST(SimulatedWaitSet, looks_at_nothing_new_until_its_ready_set_is_empty) {
  // b becomes ready at 1, within the window of {a, c}: c runs first, although b is more urgent.
  System system(ExecutorKind::kWaitSet);
  system.timer(100, 2, 9);
  system.timer(100, 1, 9, 1);
  system.timer(100, 2, 1);
  EXPECT_EQ(schedule(system, 20), "a 0-2 c 2-4 b 4-5");
}

TEST(SimulatedWaitSet, polls_once_for_each_ready_set) {
  // As before, with 1 before a and before b.
  System system(ExecutorKind::kWaitSet);
  system.timer(100, 2, 9);
  system.timer(100, 1, 9, 1);
  system.timer(100, 2, 1);
  system.value.executors[0].polling_ns = ms(1);
  EXPECT_EQ(schedule(system, 20), "a 0-3 c 3-5 b 5-7");
}

TEST(SimulatedWaitSet, sees_a_timer_that_is_late_when_it_is_ready) {
  System system(ExecutorKind::kWaitSet);
  const std::size_t a = system.timer(10, 1, 9);
  std::get<TimerTrigger>(system[a].trigger).jitter = TimeDistribution::list({ms(3), 0});
  EXPECT_EQ(schedule(system, 20), "a 3-4 a 10-11");
  EXPECT_EQ(system.run(20).callbacks[a].response.worst_ns, ms(4));
}

TEST(SimulatedWaitSet, takes_one_message_of_a_subscription_per_ready_set) {
  // b's two messages of time 0 need two sets. c, released at 1, runs between them.
  System system(ExecutorKind::kWaitSet);
  const std::size_t a = system.timer(100, 0, 0);
  const std::size_t b = system.subscription(a, 2, 0);
  system.connect(a, b);  // on a second topic: each release of a is two messages
  system.timer(100, 1, 0, 1);
  EXPECT_EQ(schedule(system, 20), "b 0-2 c 2-3 b 3-5");
}

TEST(SimulatedWaitSet, skips_timer_releases_that_passed_while_it_was_busy) {
  System system(ExecutorKind::kWaitSet);
  system.timer(2, 1, 9);
  system.timer(100, 7, 0);
  // At 8 the releases of 2, 4 and 6 have passed: the oldest runs, and that of 8 is on the grid.
  EXPECT_EQ(schedule(system, 10.5), "a 0-1 b 1-8 a 8-9 a 9-10 a 10-10.5");
  const SimulationResult result = system.run(10.5);
  EXPECT_EQ(result.callbacks[0].counts.dropped, 2U);
}

TEST(SimulatedWaitSet, loses_messages_beyond_the_depth_without_a_trace) {
  System system(ExecutorKind::kWaitSet);
  const std::size_t a = system.timer(100, 0, 0);
  const std::size_t b = system.add(1, 0, MessageTrigger{.depth = 1});
  system[a].topics = {{{b, 0, {}}}, {{b, 0, {}}}, {{b, 0, {}}}};
  const SimulationResult result = system.run(20);
  EXPECT_EQ(result.callbacks[b].counts, (SimulatedCounts{.released = 1, .completed = 1}));
}

TEST(SimulatedWaitSet, with_two_threads_runs_two_of_one_ready_set) {
  System system(ExecutorKind::kWaitSet, 2);
  system.value.executors[0].choice.threads = 2;
  system.timer(100, 2, 0);
  system.timer(100, 3, 0);
  system.timer(100, 2, 0);
  EXPECT_EQ(schedule(system, 20), "a 0-2 1:b 0-3 c 2-4");
}

TEST(SimulatedWaitSet, with_two_threads_skips_what_is_in_a_busy_group_until_it_is_free) {
  // b is ready from 0 on, in the group of a. c is taken before it. The thread that then waits for
  // the next set is woken when a leaves the group.
  System system(ExecutorKind::kWaitSet, 2);
  system.value.executors[0].choice.threads = 2;
  system.timer(100, 3, 0);
  system.timer(100, 1, 0);
  system.timer(100, 2, 0);
  system[0].group = system[1].group = 0;
  EXPECT_EQ(schedule(system, 20), "a 0-3 1:c 0-2 1:b 3-4");
}

TEST(SimulatedWaitSet, with_two_threads_does_not_ask_for_a_callback_that_runs) {
  // a publishes two messages for b at 0. The second one waits until b is free; c does not wait.
  System system(ExecutorKind::kWaitSet, 2);
  system.value.executors[0].choice.threads = 2;
  const std::size_t a = system.timer(100, 0, 0);
  const std::size_t b = system.subscription(a, 2, 0);
  system.connect(a, b);
  system.timer(100, 2, 0, 1);
  EXPECT_EQ(schedule(system, 20), "b 0-2 1:c 1-3 b 2-4");
}

TEST(SimulatedWaitSet, with_two_threads_fetches_a_new_set_when_it_has_waited) {
  // b was due before the wait that a's end ends. c was not due, but precedes b in order, and runs
  // first.
  System system(ExecutorKind::kWaitSet, 2);
  system.value.executors[0].choice.threads = 2;
  system.timer(100, 10, 0);
  system.timer(100, 1, 0, 5);
  system.timer(100, 1, 0, 1);
  system.timer(100, 1, 0, 2);
  system[0].group = system[1].group = system[2].group = 0;
  EXPECT_EQ(schedule(system, 20), "a 0-10 1:d 2-3 1:b 10-11 c 11-12");
}

TEST(SimulatedWaitSet, with_two_threads_on_one_cpu_preempts_nothing) {
  System system(ExecutorKind::kWaitSet);
  system.value.executors[0].choice.threads = 2;
  system.timer(100, 3, 0);
  system.timer(100, 1, 9, 1);
  system.timer(100, 2, 0);
  EXPECT_EQ(schedule(system, 20), "a 0-3 c 3-5 b 5-6");
}

TEST(SimulatedWaitSet, has_one_arbitrary_order_for_each_seed_and_timers_before_the_rest) {
  // At 4 the timers b and c and the subscription d are ready, and at 104 again.
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    System system(ExecutorKind::kWaitSet);
    system.value.executors[0].choice.order_seed = seed;
    const std::size_t a = system.timer(100, 4, 0);
    system.timer(100, 1, 0, 1);
    system.timer(100, 1, 0, 2);
    system.subscription(a, 1, 0);
    const std::string order = schedule(system, 20);
    orders.insert(order);
    std::string again = order;
    for (const auto& [from, to] : {std::pair{"0-4", "100-104"},
                                   {"4-5", "104-105"},
                                   {"5-6", "105-106"},
                                   {"6-7", "106-107"}}) {
      again.replace(again.find(std::string(" ") + from) + 1, 3, to);
    }
    EXPECT_EQ(schedule(system, 140), order + " " + again);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"a 0-4 b 4-5 c 5-6 d 6-7", "a 0-4 c 4-5 b 5-6 d 6-7"}));
}

TEST(SimulatedWaitSet, may_take_subscriptions_first_as_the_static_executor_of_rclcpp) {
  // At 4 the timers c and d and the subscription b are ready.
  System system(ExecutorKind::kWaitSet);
  system.value.executors[0].choice.subscriptions_first = true;
  const std::size_t a = system.timer(100, 4, 0);
  system.subscription(a, 1, 0);
  system.timer(100, 1, 0, 3);
  system.timer(100, 5, 0, 2);
  EXPECT_EQ(schedule(system, 20), "a 0-4 b 4-5 c 5-6 d 6-11");
}

}  // namespace
}  // namespace rclrt::analysis::test
