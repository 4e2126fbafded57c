// SPDX-License-Identifier: Apache-2.0
// A container for composable nodes: rclcpp_components' own, with rclrt's executor.
//
//   ros2 run rclrt_rclcpp rclrt_component_container --ros-args -p priorities:=robot.yaml
//   ros2 component load /ComponentManager demo_nodes_cpp demo_nodes_cpp::Talker
//
// Parameters: `priorities`, a file with priorities of callbacks by name; `cpus`, the CPUs its
// threads run on (all that it may use). The file may name nodes that are loaded later.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rclrt_rclcpp/executors.hpp"

namespace {

class Container : public rclcpp_components::ComponentManager {
 public:
  Container() : ComponentManager(std::weak_ptr<rclcpp::Executor>()) {
    rclrt_rclcpp::Options options;
    options.priorities = declare_parameter("priorities", "");
    for (const std::int64_t cpu : declare_parameter("cpus", std::vector<std::int64_t>())) {
      if (!std::in_range<int>(cpu)) {
        throw std::invalid_argument("parameter cpus: there is no CPU " + std::to_string(cpu));
      }
      options.engine.cpus.push_back(static_cast<int>(cpu));
    }
    rclrt::realtime::require_allowed_cpus(options.engine.cpus);
    preemptive_ = std::make_shared<rclrt_rclcpp::PreemptiveExecutor>(options);
    unused_ = preemptive_->unmatched();
    set_executor(preemptive_);
  }

  void spin() { preemptive_->spin(); }

  /// What in the priorities file has fitted none of the nodes that were here.
  const std::vector<std::string>& unused() const { return unused_; }

 protected:
  void on_load_node(const std::shared_ptr<rmw_request_id_t> header,
                    const std::shared_ptr<LoadNode::Request> request,
                    std::shared_ptr<LoadNode::Response> response) override {
    const std::uint64_t id = unique_id_;  // of the node, if there will be one
    try {
      ComponentManager::on_load_node(header, request, response);
    } catch (const std::exception& error) {  // not of the component: such as the executor's
      node_wrappers_.erase(id);
      RCLCPP_ERROR(get_logger(), "%s", error.what());
      response->success = false;
      response->error_message = error.what();
      return;
    }
    const auto unmatched = preemptive_->unmatched();
    std::erase_if(unused_, [&](const std::string& each) {
      return std::find(unmatched.begin(), unmatched.end(), each) == unmatched.end();
    });
  }

 private:
  std::shared_ptr<rclrt_rclcpp::PreemptiveExecutor> preemptive_;
  std::vector<std::string> unused_;  // of the thread that serves, while it does
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  std::shared_ptr<Container> container;
  try {
    container = std::make_shared<Container>();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_component_container: %s\n", error.what());
    return 2;
  }
  // Its own services run elsewhere: on another thread, a removal waits until the callbacks of what
  // is unloaded have ended, and it is destroyed after them.
  rclcpp::executors::SingleThreadedExecutor services;
  services.add_node(container);
  std::thread serving([&] { services.spin(); });
  container->spin();
  rclcpp::shutdown();
  serving.join();
  for (const std::string& each : container->unused()) {
    RCLCPP_WARN(container->get_logger(), "%s", each.c_str());
  }
}
