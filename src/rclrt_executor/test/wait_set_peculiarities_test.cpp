// SPDX-License-Identifier: Apache-2.0
// The five peculiarities of rclcpp's scheduling that section 2.3 of the thesis lists, after Casini
// et al. (ECRTS 2019), in its order and words. Each is shown on wait_set, and is absent from
// preemptive with the same arrivals.
#include <gtest/gtest.h>

#include "scenario.hpp"

namespace rclrt::executor::test {
namespace {

class Peculiarity : public ::testing::Test {
 protected:
  void SetUp() override { RCLRT_SKIP_WITHOUT_REALTIME(); }
};

TEST_F(Peculiarity, AllTimersAreProcessedFirstThenAllSubscriptionsThenAllServicesThenAllClients) {
  EXPECT_EQ(order_of_types<WaitSetExecutor>(),
            (Order{"timer", "subscription", "service", "client"}));
  EXPECT_EQ(order_of_types<PreemptiveExecutor>(),
            (Order{"client", "service", "subscription", "timer"}));
}

TEST_F(Peculiarity, ReadyInstancesOfATypeAreEvaluatedInTheOrderTheyRegistered) {
  EXPECT_EQ(order_of_registration<WaitSetExecutor>(),
            (Order{"registered first", "registered second"}));
  EXPECT_EQ(order_of_registration<PreemptiveExecutor>(),
            (Order{"registered second", "registered first"}));
}

TEST_F(Peculiarity, CallbacksAreTakenFromAReadySetSoMultipleReadyInstancesAreNotConsidered) {
  EXPECT_EQ(order_of_instances<WaitSetExecutor>(), (Order{"a", "b", "a", "b"}));
  EXPECT_EQ(order_of_instances<PreemptiveExecutor>(), (Order{"a", "a", "b", "b"}));
}

TEST_F(Peculiarity, TheReadySetIsOnlyUpdatedAfterAllCallbacksWithinItHaveBeenProcessed) {
  EXPECT_EQ(order_in_the_window<WaitSetExecutor>(),
            (Order{"first", "first ends", "second", "urgent"}));
  EXPECT_EQ(order_in_the_window<PreemptiveExecutor>(),
            (Order{"first", "urgent", "first ends", "second"}));
}

TEST_F(Peculiarity, OnceACallbackIsBeingExecutedItCannotBePreempted) {
  EXPECT_EQ(order_while_one_runs<WaitSetExecutor>(), (Order{"low", "low ends", "urgent"}));
  EXPECT_EQ(order_while_one_runs<PreemptiveExecutor>(), (Order{"low", "urgent", "low ends"}));
}

}  // namespace
}  // namespace rclrt::executor::test
