// SPDX-License-Identifier: Apache-2.0
// The reference system's nodes, as its own programs make them, on one of rclrt's executors.
//
//     reference_nodes EXECUTOR [ordered]
//
// EXECUTOR is a name that rclrt_rclcpp::make_executor takes, or `events` for rclcpp's
// EventsExecutor. Without `ordered` nothing is said of the nodes: the executor is the one line that
// differs from autoware_default_singlethreaded. With it the planner and the hot path go first, as
// in autoware_default_prioritized. Prints what the nodes print, until Ctrl-C.
#include <cstring>  // their headers use memcpy without it

#include <array>
#include <autoware_reference_system/autoware_system_builder.hpp>
#include <autoware_reference_system/system/timing/default.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <reference_system/system/type/rclcpp_system.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt_rclcpp/robot.hpp"

namespace {

using namespace std::chrono_literals;
using Nodes = std::vector<std::shared_ptr<rclcpp::Node>>;

constexpr std::string_view kPlanner = "BehaviorPlanner";
constexpr std::array<std::string_view, 8> kHotPath{
    "FrontLidarDriver",         "PointsTransformerFront",  "RearLidarDriver",
    "PointsTransformerRear",    "PointCloudFusion",        "RayGroundFilter",
    "EuclideanClusterDetector", "ObjectCollisionEstimator"};

/// A shorter deadline for what has a higher priority, for executors that go by those.
rclrt_rclcpp::Timing timing_of(std::string_view node) {
  if (node == kPlanner) {
    return {.priority = 3, .deadline = 10ms};
  }
  for (const std::string_view each : kHotPath) {
    if (each == node) {
      return {.priority = 2, .deadline = 50ms};
    }
  }
  return {.priority = 1, .deadline = 100ms};
}

void run_events(const Nodes& nodes) {
  rclcpp::experimental::executors::EventsExecutor executor;
  for (const auto& node : nodes) {
    executor.add_node(node);
  }
  executor.spin();
}

void run(const std::string& kind, bool ordered, const Nodes& nodes) {
  const auto executor = rclrt_rclcpp::make_executor(kind, {});
  for (const auto& node : nodes) {
    executor->add_node(node);
    if (ordered) {
      executor->set_timing(node, timing_of(node->get_name()));
    }
  }
  executor->spin();
}

}  // namespace

int main(int argc, char** argv) {
  const bool ordered = argc == 3 && argv[2] == std::string_view("ordered");
  if (argc < 2 || argc > 3 || (argc == 3 && !ordered)) {
    std::fprintf(stderr, "usage: reference_nodes EXECUTOR [ordered]\n");
    return 2;
  }
  const std::string kind = argv[1];
  try {
    rclcpp::init(1, argv);
    const Nodes nodes = create_autoware_nodes<RclcppSystem, nodes::timing::Default>();
    if (kind == "events" && !ordered) {
      run_events(nodes);
    } else {
      run(kind, ordered, nodes);
    }
    rclcpp::shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reference_nodes: %s\n", error.what());
    return 2;
  }
  return 0;
}
