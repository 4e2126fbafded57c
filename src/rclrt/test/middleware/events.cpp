// SPDX-License-Identifier: Apache-2.0
// Which events of the quality of service the middleware has. Each test is a row of
// docs/results/middlewares.md; the property "cell" is what the table shows.
#include <rcl/error_handling.h>
#include <rcl/event.h>

#include "reader.hpp"

namespace rclrt::test {
namespace {

class Events : public ::testing::Test {
 protected:
  std::string of_publisher(rcl_publisher_event_type_t type) const {
    rcl_event_t event = rcl_get_zero_initialized_event();
    return result(event, rcl_publisher_event_init(&event, &publisher->handle()->publisher, type));
  }
  std::string of_subscription(rcl_subscription_event_type_t type) {
    rcl_event_t event = rcl_get_zero_initialized_event();
    return result(event, rcl_subscription_event_init(&event, reader.rcl(), type));
  }

  std::shared_ptr<Context> context = make_context();
  Node node{context, "node"};
  Reader reader{node, "topic"};
  std::shared_ptr<Publisher<Int64>> publisher = node.create_publisher<Int64>("topic", 10);

 private:
  static std::string result(rcl_event_t& event, rcl_ret_t made) {
    if (made == RCL_RET_UNSUPPORTED) {
      rcl_reset_error();
      return "no";
    }
    EXPECT_EQ(made, RCL_RET_OK);
    EXPECT_EQ(rcl_event_fini(&event), RCL_RET_OK);
    return "yes";
  }
};

TEST_F(Events, OfADeadlineThatWasOffered) {
  RecordProperty("cell", of_publisher(RCL_PUBLISHER_OFFERED_DEADLINE_MISSED));
}

TEST_F(Events, OfADeadlineThatWasRequested) {
  RecordProperty("cell", of_subscription(RCL_SUBSCRIPTION_REQUESTED_DEADLINE_MISSED));
}

TEST_F(Events, OfLivelinessThatWasLost) {
  RecordProperty("cell", of_publisher(RCL_PUBLISHER_LIVELINESS_LOST));
}

TEST_F(Events, OfLivelinessThatChanged) {
  RecordProperty("cell", of_subscription(RCL_SUBSCRIPTION_LIVELINESS_CHANGED));
}

/// rclrt warns of publishers and subscriptions that do not match.
TEST_F(Events, OfAnIncompatibleQosOfAPublisher) {
  RecordProperty("cell", of_publisher(RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS));
}

TEST_F(Events, OfAnIncompatibleQosOfASubscription) {
  RecordProperty("cell", of_subscription(RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS));
}

TEST_F(Events, OfAnIncompatibleTypeOfASubscription) {
  RecordProperty("cell", of_subscription(RCL_SUBSCRIPTION_INCOMPATIBLE_TYPE));
}

TEST_F(Events, OfLostMessages) {
  RecordProperty("cell", of_subscription(RCL_SUBSCRIPTION_MESSAGE_LOST));
}

/// Publisher::get_subscription_count is kept by it instead of asked for each time.
TEST_F(Events, OfMatchesOfAPublisher) {
  RecordProperty("cell", of_publisher(RCL_PUBLISHER_MATCHED));
}

TEST_F(Events, OfMatchesOfASubscription) {
  RecordProperty("cell", of_subscription(RCL_SUBSCRIPTION_MATCHED));
}

}  // namespace
}  // namespace rclrt::test
