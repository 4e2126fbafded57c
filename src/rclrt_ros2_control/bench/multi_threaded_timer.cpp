// SPDX-License-Identifier: Apache-2.0
// A contender: the control loop as a timer of rclcpp's MultiThreadedExecutor; all its threads run
// at SCHED_FIFO 50, like the loop of ros2_control_node. With as many threads as CPUs it deadlocks:
// all of them wait in services for the loop, which then has no thread to run on.
#include <controller_manager/controller_manager.hpp>
#include <cstdio>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <realtime_tools/realtime_helpers.hpp>

#include "../src/control_loop.hpp"
#include "../src/node_options.hpp"

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  constexpr std::size_t kThreads = 8;  // more than service_load has requests under way
  const auto executor = std::make_shared<rclcpp::executors::MultiThreadedExecutor>(
      rclcpp::ExecutorOptions(), kThreads);
  const auto manager = std::make_shared<controller_manager::ControllerManager>(
      executor, rclrt_ros2_control::kManagerName, "", rclrt_ros2_control::node_options(argc, argv));
  if (manager->get_parameter_or("lock_memory", false)) {
    realtime_tools::lock_memory();
  }
  rclrt_ros2_control::ControlLoop loop(manager);
  executor->add_node(manager);
  loop.add_to(*executor);
  if (!realtime_tools::configure_sched_fifo(50)) {  // the executor's threads inherit it
    std::fprintf(stderr, "multi_threaded_timer: SCHED_FIFO is not permitted\n");
  }
  executor->spin();
  loop.run_until_shutdown();
  rclcpp::shutdown();
}
