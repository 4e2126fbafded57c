// SPDX-License-Identifier: Apache-2.0
#include "../examples/extra_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rclrt_robot::test {
namespace {

using composition_interfaces::srv::LoadNode;

LoadNode::Request with(const std::vector<rclcpp::Parameter>& arguments) {
  LoadNode::Request request;
  request.package_name = "package";
  request.plugin_name = "package::Urgent";
  request.node_name = "urgent";
  request.node_namespace = "/front";
  for (const rclcpp::Parameter& each : arguments) {
    request.extra_arguments.push_back(each.to_parameter_msg());
  }
  return request;
}

std::string refusal(const LoadNode::Request& request) {
  try {
    timing_of(request);
  } catch (const rclcpp_components::ComponentManagerException& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExtraArguments, StateThePriorityAndTheDeadlineOfANode) {
  const auto timing = timing_of(with({{"priority", 6}, {"deadline_ms", 2.5}}));
  EXPECT_EQ(timing.priority, 6);
  EXPECT_EQ(timing.deadline, std::chrono::microseconds(2500));
  EXPECT_EQ(timing_of(with({{"deadline_ms", 3}})).deadline, std::chrono::milliseconds(3));
  EXPECT_FALSE(timing_of(with({})).priority);
}

TEST(ExtraArguments, OfTheBaseClassAreAccepted) {
  EXPECT_EQ(refusal(with({{"use_intra_process_comms", true}, {"forward_global_arguments", false}})),
            "accepted");
}

TEST(ExtraArguments, ThatAreUnknownAreRefusedWithTheAcceptedNames) {
  const std::string names =
      "expected 'priority', 'deadline_ms', 'use_intra_process_comms' or 'forward_global_arguments'";
  EXPECT_EQ(
      refusal(with({{"priorty", 5}})),
      "extra argument 'priorty' of node '/front/urgent' is unknown; did you mean 'priority'? " +
          names);
  LoadNode::Request unnamed = with({{"wheel_radius", 5}});
  unnamed.node_name.clear();
  EXPECT_EQ(refusal(unnamed),
            "extra argument 'wheel_radius' of node 'package::Urgent' is unknown; " + names);
}

TEST(ExtraArguments, WithAValueOfAWrongTypeOrOutOfRangeAreRefused) {
  const std::string integer = "expected an integer between 0 and 1000000; higher is more urgent";
  const std::string number = "expected a number of milliseconds above 0, at most 3600000";
  for (const auto& [argument, what] : std::vector<std::pair<rclcpp::Parameter, std::string>>{
           {{"priority", "high"}, "is 'high' (string); " + integer},
           {{"priority", 5.0}, "(double); " + integer},
           {{"priority", -1}, "is '-1' (integer); " + integer},
           {{"priority", 1'000'001}, "is '1000001' (integer); " + integer},
           {{"deadline_ms", -1.0}, "(double); " + number},
           {{"deadline_ms", 0}, "is '0' (integer); " + number},
           {{"deadline_ms", true}, "is 'true' (bool); " + number},
           {{"use_intra_process_comms", 1}, "is '1' (integer); expected true or false"}}) {
    EXPECT_THAT(refusal(with({argument})), testing::HasSubstr(what));
  }
  EXPECT_THAT(refusal(with({{"priority", 5}, {"priority", 6}})),
              testing::HasSubstr("'priority' of node '/front/urgent' is stated twice"));
}

}  // namespace
}  // namespace rclrt_robot::test
