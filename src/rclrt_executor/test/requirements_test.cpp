// SPDX-License-Identifier: Apache-2.0
// The requirements of section 3.3.2 of the thesis on a predictable executor, in its order and
// words. Each one holds for the executors with priorities, and is violated by wait_set with the
// same arrivals.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace rclrt::executor::test {
namespace {

class Requirement : public KindTest {
 protected:
  void SetUp() override { RCLRT_SKIP_WITHOUT_REALTIME(); }
};
INSTANTIATE_TEST_SUITE_P(, Requirement,
                         ::testing::Values<std::string_view>("preemptive", "producer_consumer",
                                                             "thread_dispatch"),
                         kind_name);

TEST_P(Requirement, PlaceNoImplicitPriorityOnCallbackType) {
  const Order as_they_arrive{"client", "service", "subscription", "timer"};
  EXPECT_EQ(order_of_types(GetParam()), as_they_arrive);
  EXPECT_NE(order_of_types("wait_set"), as_they_arrive);
}

TEST_P(Requirement, PlaceNoImplicitPriorityOnTheOrderInWhichCallbacksHaveRegistered) {
  const Order as_they_arrive{"registered second", "registered first"};
  EXPECT_EQ(order_of_registration(GetParam()), as_they_arrive);
  EXPECT_NE(order_of_registration("wait_set"), as_they_arrive);
}

TEST_P(Requirement, ConsiderMultipleReadyInstancesOfACallback) {
  const Order every_instance_in_its_turn{"a", "a", "b", "b"};
  EXPECT_EQ(order_of_instances(GetParam()), every_instance_in_its_turn);
  EXPECT_NE(order_of_instances("wait_set"), every_instance_in_its_turn);
}

TEST_P(Requirement, NotCausePriorityInversionsByIrregularPollingIntervals) {
  const Order the_urgent_one_at_once{"first", "urgent", "first ends", "second"};
  EXPECT_EQ(order_in_the_window(GetParam()), the_urgent_one_at_once);
  EXPECT_NE(order_in_the_window("wait_set"), the_urgent_one_at_once);
}

TEST_P(Requirement, PreemptiveCallbackExecution) {
  const Order preempted{"low", "urgent", "low ends"};
  EXPECT_EQ(order_while_one_runs(GetParam()), preempted);
  EXPECT_NE(order_while_one_runs("wait_set"), preempted);
}

TEST_P(Requirement, ExplicitPriorityAssignment) {
  const Order by_priority{"high", "middle", "low"};
  EXPECT_EQ(order_of_priorities(GetParam()), by_priority);
  EXPECT_NE(order_of_priorities("wait_set"), by_priority);
}

}  // namespace
}  // namespace rclrt::executor::test
