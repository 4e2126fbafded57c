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
  EXPECT_EQ(order_of_types("wait_set"), (Order{"timer", "subscription", "service", "client"}));
  EXPECT_EQ(order_of_types("preemptive"), (Order{"client", "service", "subscription", "timer"}));
}

TEST_F(Peculiarity, ReadyInstancesOfATypeAreEvaluatedInTheOrderTheyRegistered) {
  EXPECT_EQ(order_of_registration("wait_set"), (Order{"registered first", "registered second"}));
  EXPECT_EQ(order_of_registration("preemptive"), (Order{"registered second", "registered first"}));
}

TEST_F(Peculiarity, CallbacksAreTakenFromAReadySetSoMultipleReadyInstancesAreNotConsidered) {
  EXPECT_EQ(order_of_instances("wait_set"), (Order{"a", "b", "a", "b"}));
  EXPECT_EQ(order_of_instances("preemptive"), (Order{"a", "a", "b", "b"}));
}

TEST_F(Peculiarity, TheReadySetIsOnlyUpdatedAfterAllCallbacksWithinItHaveBeenProcessed) {
  EXPECT_EQ(order_in_the_window("wait_set"), (Order{"first", "first ends", "second", "urgent"}));
  EXPECT_EQ(order_in_the_window("preemptive"), (Order{"first", "urgent", "first ends", "second"}));
}

TEST_F(Peculiarity, OnceACallbackIsBeingExecutedItCannotBePreempted) {
  EXPECT_EQ(order_while_one_runs("wait_set"), (Order{"low", "low ends", "urgent"}));
  EXPECT_EQ(order_while_one_runs("preemptive"), (Order{"low", "urgent", "low ends"}));
}

}  // namespace
}  // namespace rclrt::executor::test
