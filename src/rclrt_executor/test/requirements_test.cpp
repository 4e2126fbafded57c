// SPDX-License-Identifier: Apache-2.0
// The requirements of section 3.3.2 of the thesis on a predictable executor, in its order and
// words. Each one holds for the executors with priorities, and is violated by wait_set with the
// same arrivals.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace rclrt::executor::test {
namespace {

template <typename E>
class Requirement : public ::testing::Test {
 protected:
  void SetUp() override { RCLRT_SKIP_WITHOUT_REALTIME(); }
};
using WithPriorities =
    ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, ThreadDispatchExecutor>;
TYPED_TEST_SUITE(Requirement, WithPriorities, ExecutorName);

TYPED_TEST(Requirement, PlaceNoImplicitPriorityOnCallbackType) {
  const Order as_they_arrive{"client", "service", "subscription", "timer"};
  EXPECT_EQ(order_of_types<TypeParam>(), as_they_arrive);
  EXPECT_NE(order_of_types<WaitSetExecutor>(), as_they_arrive);
}

TYPED_TEST(Requirement, PlaceNoImplicitPriorityOnTheOrderInWhichCallbacksHaveRegistered) {
  const Order as_they_arrive{"registered second", "registered first"};
  EXPECT_EQ(order_of_registration<TypeParam>(), as_they_arrive);
  EXPECT_NE(order_of_registration<WaitSetExecutor>(), as_they_arrive);
}

TYPED_TEST(Requirement, ConsiderMultipleReadyInstancesOfACallback) {
  const Order every_instance_in_its_turn{"a", "a", "b", "b"};
  EXPECT_EQ(order_of_instances<TypeParam>(), every_instance_in_its_turn);
  EXPECT_NE(order_of_instances<WaitSetExecutor>(), every_instance_in_its_turn);
}

TYPED_TEST(Requirement, NotCausePriorityInversionsByIrregularPollingIntervals) {
  const Order the_urgent_one_at_once{"first", "urgent", "first ends", "second"};
  EXPECT_EQ(order_in_the_window<TypeParam>(), the_urgent_one_at_once);
  EXPECT_NE(order_in_the_window<WaitSetExecutor>(), the_urgent_one_at_once);
}

TYPED_TEST(Requirement, PreemptiveCallbackExecution) {
  const Order preempted{"low", "urgent", "low ends"};
  EXPECT_EQ(order_while_one_runs<TypeParam>(), preempted);
  EXPECT_NE(order_while_one_runs<WaitSetExecutor>(), preempted);
}

TYPED_TEST(Requirement, ExplicitPriorityAssignment) {
  const Order by_priority{"high", "middle", "low"};
  EXPECT_EQ(order_of_priorities<TypeParam>(), by_priority);
  EXPECT_NE(order_of_priorities<WaitSetExecutor>(), by_priority);
}

}  // namespace
}  // namespace rclrt::executor::test
