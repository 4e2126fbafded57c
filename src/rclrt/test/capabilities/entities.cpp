// SPDX-License-Identifier: Apache-2.0
// The entities that can have a callback.
#include <rcl_interfaces/srv/get_parameters.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <test_msgs/action/fibonacci.hpp>
#include <thread>

#include "capability.hpp"

namespace rclrt::test {
namespace {

using rcl_interfaces::srv::GetParameters;
using sensor_msgs::msg::Imu;
using std_srvs::srv::SetBool;
using test_msgs::action::Fibonacci;

class Callbacks : public Capability {};
INSTANTIATE_TEST_SUITE_P(Every, Callbacks, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Callbacks, Timers) {
  node.create_wall_timer(std::chrono::milliseconds(1), [&] { done(); });
  spin(*executor());
}

TEST_P(Callbacks, Subscriptions) {
  node.create_subscription<Int64>("topic", 5, [&](const Int64&) { done(); });
  const auto publisher = node.create_publisher<Int64>("topic", 5);
  ready = [&] { publisher->publish(Int64{}); };
  spin(*executor());
}

TEST_P(Callbacks, SubscriptionsWithinTheProcessByReference) {
  const Int64* written = nullptr;
  const Int64* read = nullptr;
  node.create_subscription<Int64>("topic", 5,
                                  [&](const Int64& message) {
                                    read = &message;
                                    done();
                                  },
                                  {.intra_process = true});
  const auto publisher = node.create_publisher<Int64>("topic", 5);
  ready = [&] {
    auto loan = publisher->borrow();
    written = &*loan;
    publisher->publish(std::move(loan));
  };
  spin(*executor());
  EXPECT_EQ(read, written);
}

TEST_P(Callbacks, SubscriptionsToLoansOfTheMiddleware) {
  ASSERT_EQ(setenv("ROS_DISABLE_LOANED_MESSAGES", "0", 1), 0);
  const auto subscription =
      node.create_subscription<Int64>("topic", 5, [&](const Int64&) { done(); });
  unsetenv("ROS_DISABLE_LOANED_MESSAGES");
  EXPECT_EQ(subscription->can_loan_messages(), middleware_lends());
  const auto publisher = node.create_publisher<Int64>("topic", 5);
  ready = [&] { publisher->publish(publisher->borrow()); };
  spin(*executor());
}

TEST_P(Callbacks, SynchronisersOfSeveralTopics) {
  node.create_synchronizer<Imu, Imu, Imu>({"left", "right", "rear"}, 5,
                                          {.policy = SyncPolicy::kExact},
                                          [&](const Imu&, const Imu&, const Imu&) { done(); });
  const auto left = node.create_publisher<Imu>("left", 5);
  const auto right = node.create_publisher<Imu>("right", 5);
  const auto rear = node.create_publisher<Imu>("rear", 5);
  ready = [&] {
    left->publish(Imu{});
    right->publish(Imu{});
    rear->publish(Imu{});
  };
  spin(*executor());
}

TEST_P(Callbacks, ServicesAndClients) {
  node.create_service<SetBool>("serve",
                               [](const SetBool::Request& request, SetBool::Response& response) {
                                 response.success = request.data;
                               });
  const auto client = node.create_client<SetBool>("serve");
  bool success = false;
  ready = [&] {
    ASSERT_TRUE(client->wait_for_service(std::chrono::seconds(20)));
    SetBool::Request request;
    request.data = true;
    client->async_send_request(request, [&](const SetBool::Response& response) {
      success = response.success;
      done();
    });
  };
  spin(*executor());
  EXPECT_TRUE(success);
}

TEST_P(Callbacks, FuturesOfResponsesForOtherThreads) {
  node.create_service<SetBool>("serve", [](const SetBool::Request&, SetBool::Response&) {});
  const auto client = node.create_client<SetBool>("serve");
  const auto spinning = executor();
  std::thread other;
  ready = [&] {
    ASSERT_TRUE(client->wait_for_service(std::chrono::seconds(20)));
    other = std::thread([&] {
      client->async_send_request(SetBool::Request{}).future.get();
      done();
    });
  };
  spin(*spinning);
  other.join();
}

TEST_P(Callbacks, GuardConditions) {
  const auto condition = node.create_guard_condition([&] { done(); });
  ready = [&] { condition->trigger(); };
  spin(*executor());
}

TEST_P(Callbacks, ActionServersAndClients) {
  create_action_server<Fibonacci>(
      node, "fibonacci",
      {.handle_accepted = [](const std::shared_ptr<ServerGoalHandle<Fibonacci>>& goal) {
        goal->succeed(Fibonacci::Result{});
      }});
  const auto client = create_action_client<Fibonacci>(node, "fibonacci");
  ready = [&] {
    ASSERT_TRUE(client->wait_for_action_server(std::chrono::seconds(20)));
    client->async_send_goal(Fibonacci::Goal{},
                            {.result_callback = [&](const ActionResult<Fibonacci>& ended) {
                              EXPECT_EQ(ended.status, GoalStatus::kSucceeded);
                              done();
                            }});
  };
  spin(*executor());
}

TEST_P(Callbacks, ParameterServices) {
  node.declare_parameter("gain", 0.5);
  const auto client = node.create_client<GetParameters>("/node/get_parameters");
  ready = [&] {
    ASSERT_TRUE(client->wait_for_service(std::chrono::seconds(20)));
    GetParameters::Request request;
    request.names = {"gain"};
    client->async_send_request(request, [&](const GetParameters::Response& response) {
      EXPECT_EQ(response.values.at(0).double_value, 0.5);
      done();
    });
  };
  spin(*executor());
}

TEST_P(Callbacks, EventsOfTheQualityOfService) {
  const auto publisher =
      node.create_publisher<Int64>("topic", QoS(5).deadline(std::chrono::milliseconds(5)));
  create_qos_event<OfferedDeadlineMissed>(node, publisher,
                                          [&](const OfferedDeadlineMissed&) { done(); });
  ready = [&] { publisher->publish(Int64{}); };  // the next message is late
  spin(*executor());
}

TEST_P(Callbacks, ChangesOfTheGraph) {
  create_graph_callback(node, [&] {
    if (node.count_publishers("topic") == 1) {
      done();
    }
  });
  std::shared_ptr<Publisher<Int64>> publisher;
  ready = [&] { publisher = node.create_publisher<Int64>("topic", 5); };
  spin(*executor());
}

}  // namespace
}  // namespace rclrt::test
