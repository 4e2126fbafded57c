// SPDX-License-Identifier: Apache-2.0
// The reference system's nodes, as its own programs make them, on one of rclrt's executors.
//
//     reference_nodes EXECUTOR [ordered]
//
// EXECUTOR is a name that rclrt_rclcpp::make_executor takes, `events` for rclcpp's EventsExecutor
// or, where that is found, `callback_isolated` for TIER IV's executor. Without `ordered` the nodes
// have no priorities: only the line of the executor differs from autoware_default_singlethreaded.
// With `ordered` the planner and the hot path have priority, as in autoware_default_prioritized.
// Prints the output of the nodes until Ctrl-C. With `ordered`, prints their priorities first; under
// callback_isolated its configurator sets them.
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
#include <thread>
#include <vector>

#include "rclrt_rclcpp/executors.hpp"

#ifdef HAVE_CALLBACK_ISOLATED
#include <callback_isolated_executor/callback_isolated_executor.hpp>
#endif

namespace {

using namespace std::chrono_literals;
using Nodes = std::vector<std::shared_ptr<rclcpp::Node>>;

/// How long callback_isolated waits for its configurator before it spins. It announces each thread
/// only once, when the thread begins to spin, so a configurator that is found later would miss it.
constexpr auto kDiscovery = 1s;

constexpr std::string_view kPlanner = "BehaviorPlanner";
constexpr std::array<std::string_view, 8> kHotPath{
    "FrontLidarDriver",         "PointsTransformerFront",  "RearLidarDriver",
    "PointsTransformerRear",    "PointCloudFusion",        "RayGroundFilter",
    "EuclideanClusterDetector", "ObjectCollisionEstimator"};

/// Returns the priority and the deadline of a node's callbacks. A higher priority has a shorter
/// deadline, for executors that order by deadline.
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

template <typename OtherExecutor>
void run_other(const Nodes& nodes, std::chrono::seconds wait = 0s) {
  OtherExecutor executor;
  for (const auto& node : nodes) {
    executor.add_node(node);
  }
  std::this_thread::sleep_for(wait);
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
    if (ordered) {
      for (const auto& node : nodes) {
        std::printf("priority %s %d\n", node->get_name(), *timing_of(node->get_name()).priority);
      }
      std::fflush(stdout);
    }
    if (kind == "events" && !ordered) {
      run_other<rclcpp::experimental::executors::EventsExecutor>(nodes);
#ifdef HAVE_CALLBACK_ISOLATED
    } else if (kind == "callback_isolated") {
      run_other<CallbackIsolatedExecutor>(nodes, kDiscovery);
#endif
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
