// SPDX-License-Identifier: Apache-2.0
// Sets of a static order and their triggers, as schedules worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "simulated.hpp"

namespace rclrt::analysis::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SimulatedStaticOrder, runs_a_set_by_level_and_leaves_the_rest_to_the_next) {
  // b and c become ready while a runs; d, the most urgent one, while b and c run.
  System system(ExecutorKind::kStaticOrder);
  system.timer(100, 2, 1);
  system.timer(100, 1, 2, 1);
  system.timer(100, 1, 3, 1);
  system.timer(100, 1, 9, 2.5);
  EXPECT_EQ(schedule(system, 20), "a 0-2 c 2-3 b 3-4 d 4-5");
}

TEST(SimulatedStaticOrder, has_one_instance_of_each_callback_in_a_set) {
  // At 6, a waits with its releases at 2, 4 and 6: c of the same set runs before the second
  // release.
  System system(ExecutorKind::kStaticOrder);
  system.timer(2, 1, 2);
  system.timer(100, 5, 1);
  system.timer(100, 1, 1, 3);
  EXPECT_EQ(schedule(system, 10), "a 0-1 b 1-6 a 6-7 c 7-8 a 8-9 a 9-10");
}

TEST(SimulatedStaticOrder, waits_until_all_are_ready_where_that_is_the_trigger) {
  System system(ExecutorKind::kStaticOrder);
  system.timer(4, 1, 1);
  system.timer(4, 1, 2, 2);
  EXPECT_EQ(schedule(system, 9), "a 0-1 b 2-3 a 4-5 b 6-7 a 8-9");
  system.value.executors[0].choice.trigger = model::SetTrigger::kAll;
  EXPECT_EQ(schedule(system, 9), "b 2-3 a 3-4 b 6-7 a 7-8");
}

TEST(SimulatedStaticOrder, of_services_only_waits_for_anything_where_all_are_the_trigger) {
  System system(ExecutorKind::kStaticOrder, 2);
  system.value.executors.push_back({.choice = ExecutorKind::kStaticOrder, .cpus = {1}});
  system.value.executors[0].cpus = {0};
  const std::size_t asks = system.timer(4, 1, 1);
  const std::size_t answers = system.subscription(asks, 1, 1);
  system[answers].executor = 1;
  system[answers].role = model::Role::kService;
  system.value.executors[1].choice.trigger = model::SetTrigger::kAll;
  EXPECT_EQ(schedule(system, 8), "a 0-1 1:b 1-2 a 4-5 1:b 5-6");
}

TEST(SimulatedStaticOrder, waits_for_the_callback_that_is_the_trigger) {
  System system(ExecutorKind::kStaticOrder);
  system.timer(4, 1, 1, 3);
  system.timer(4, 1, 2);
  system.value.executors[0].choice.trigger = model::SetTrigger::kCallback;
  system.value.executors[0].trigger_callback = 0;
  EXPECT_EQ(schedule(system, 9), "b 3-4 a 4-5 b 7-8 a 8-9");
  system.value.executors[0].trigger_callback = 2;
  EXPECT_THAT([&] { schedule(system, 9); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "executor 0 of the simulation is triggered by a callback that does not exist")));
}

TEST(SimulatedStaticOrder, with_logical_execution_time_takes_messages_when_a_set_begins) {
  // c has a depth of 1. b's message, published before c runs in their set, replaces that of a,
  // unless c has already taken it.
  System system(ExecutorKind::kStaticOrder);
  const std::size_t a = system.timer(100, 1, 9);
  const std::size_t b = system.timer(100, 1, 2, 0.5);
  const std::size_t c = system.subscription(a, 1, 1, 1);
  system.connect(b, c);
  system.chain({a, c});
  EXPECT_EQ(schedule(system, 20), "a 0-1 b 1-2 c 2-3");
  EXPECT_EQ(system.run(20).chains[0].response.count, 0U);
  system.value.executors[0].choice.logical_execution_time = true;
  EXPECT_EQ(schedule(system, 20), "a 0-1 b 1-2 c 2-3 c 3-4");
  EXPECT_EQ(system.run(20).chains[0].response.count, 1U);
}

}  // namespace
}  // namespace rclrt::analysis::test
