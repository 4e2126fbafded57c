// SPDX-License-Identifier: Apache-2.0
// A container for composable nodes: that of rclcpp_components, with rclrt's executors.
//
//   ros2 run rclrt_robot rclrt_component_container --ros-args -p robot:=robot.yaml
//   ros2 component load /ComponentManager demo_nodes_cpp demo_nodes_cpp::Talker
//
// docs/reference/robot-yaml.md describes the parameters, which override the file, and the extra
// arguments of a node. The file may name nodes that are loaded later.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "extra_arguments.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/yaml/suggest.hpp"
#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_robot/robot.hpp"

namespace {

rclrt::executor::Realtime realtime_of(const std::string& text) {
  if (text == "try") {
    return rclrt::executor::Realtime::kTry;
  }
  if (text == "require") {
    return rclrt::executor::Realtime::kRequire;
  }
  if (text == "off") {
    return rclrt::executor::Realtime::kOff;
  }
  throw std::invalid_argument("parameter realtime: \"" + text + "\"; expected try, require or off");
}

class Container : public rclcpp_components::ComponentManager {
 public:
  Container() : ComponentManager(std::weak_ptr<rclcpp::Executor>()), robot_(options()) {
    unused_ = robot_.executor().unmatched();
    set_executor(robot_.shared_executor());
  }

  void spin() { robot_.spin(); }

  /// Returns the entries of the priorities file that have matched none of the loaded nodes so far.
  const std::vector<std::string>& unused() {
    note_used();
    return unused_;
  }

 protected:
  void on_load_node(const std::shared_ptr<rmw_request_id_t> header,
                    const std::shared_ptr<LoadNode::Request> request,
                    std::shared_ptr<LoadNode::Response> response) override {
    const std::uint64_t id = unique_id_;  // of the node, if it is made
    try {
      timing_ = rclrt_robot::timing_of(*request);
      ComponentManager::on_load_node(header, request, response);
    } catch (const std::exception& error) {  // not from the component: from the executor, say
      node_wrappers_.erase(id);
      RCLCPP_ERROR(get_logger(), "%s", error.what());
      response->success = false;
      response->error_message = error.what();
      return;
    }
    robot_.update_memory();
    note_used();
  }

  void on_unload_node(const std::shared_ptr<rmw_request_id_t> header,
                      const std::shared_ptr<UnloadNode::Request> request,
                      std::shared_ptr<UnloadNode::Response> response) override {
    note_used();  // counts the callbacks that the node has made since it was loaded
    ComponentManager::on_unload_node(header, request, response);
  }

  void add_node_to_executor(std::uint64_t id) override {
    robot_.executor().set_timing(node_wrappers_[id].get_node_base_interface(), timing_);
    ComponentManager::add_node_to_executor(id);
  }

 private:
  void note_used() {
    const auto unmatched = robot_.executor().unmatched();
    std::erase_if(unused_, [&](const std::string& each) {
      return std::find(unmatched.begin(), unmatched.end(), each) == unmatched.end();
    });
  }

  /// Throws for a number that does not fit into an int.
  static int to_int(std::int64_t value, const std::string& what) {
    if (!std::in_range<int>(value)) {
      throw std::invalid_argument("parameter " + what + " " + std::to_string(value));
    }
    return static_cast<int>(value);
  }

  rclrt_robot::RobotOptions options() {
    const std::string file = declare_parameter("robot", "");
    const std::string process = declare_parameter("process", "");
    if (file.empty() && !process.empty()) {
      throw std::invalid_argument(
          "parameter process has no effect without the parameter robot; set robot to the file that "
          "describes the process");
    }
    rclrt_robot::RobotOptions robot =
        file.empty() ? rclrt_robot::RobotOptions() : rclrt_robot::load_robot(file, process);
    rclrt::executor::ExecutorOptions& engine = robot.options.engine;
    // Parameters that are not set keep the values of the file.
    robot.executor = declare_parameter("executor", robot.executor);
    const auto top = declare_parameter<std::int64_t>("top_priority", engine.top_priority);
    if (top < 2 || top > rclrt::model::kTopPriority) {
      throw std::invalid_argument("top_priority is " + std::to_string(top) + "; expected 2 to " +
                                  std::to_string(rclrt::model::kTopPriority));
    }
    engine.top_priority = static_cast<int>(top);
    // The base class declares it for a MultiThreadedExecutor, with its range and the machine's CPUs
    // as default.
    if (get_node_parameters_interface()->get_parameter_overrides().contains("thread_num")) {
      engine.workers_per_level = static_cast<std::size_t>(get_parameter("thread_num").as_int());
    }
    if (const std::string priorities = declare_parameter("priorities", ""); !priorities.empty()) {
      robot.options.priorities = priorities;
      robot.options.process.clear();
    }
    if (const std::string found = declare_parameter("write_priorities", ""); !found.empty()) {
      robot.write_priorities = found;
    }
    if (const std::string realtime = declare_realtime(); !realtime.empty()) {
      engine.realtime = realtime_of(realtime);
    }
    const auto cpus = declare_parameter("cpus", std::vector<std::int64_t>());
    if (!cpus.empty()) {
      engine.cpus.clear();
    }
    for (const std::int64_t cpu : cpus) {
      engine.cpus.push_back(to_int(cpu, "cpus: there is no CPU"));
    }
    rclrt::realtime::require_allowed_cpus(engine.cpus);
    if (const std::string directory = declare_parameter("record", ""); !directory.empty()) {
      robot.recording = robot.recording.value_or(rclrt_robot::RecordingOptions());
      robot.recording->directory = directory;
    }
    check_parameters();
    return robot;
  }

  /// Declares the parameter realtime, and returns its value. YAML reads `off` as the boolean false.
  std::string declare_realtime() {
    rcl_interfaces::msg::ParameterDescriptor any_type;
    any_type.dynamic_typing = true;
    const rclcpp::ParameterValue value =
        declare_parameter("realtime", rclcpp::ParameterValue(""), any_type);
    if (value.get_type() == rclcpp::ParameterType::PARAMETER_BOOL && !value.get<bool>()) {
      return "off";
    }
    return rclcpp::to_string(value);
  }

  /// Throws for an unknown parameter with a name similar to one of the container's parameters. Only
  /// warns of other unknown parameters, because a parameter file may be for several nodes.
  void check_parameters() {
    constexpr std::array kKnown{
        "robot", "process",    "executor", "realtime",     "thread_num",
        "cpus",  "priorities", "record",   "top_priority", "write_priorities"};
    const std::vector<std::string_view> known(kKnown.begin(), kKnown.end());
    for (const auto& [name, value] : get_node_parameters_interface()->get_parameter_overrides()) {
      if (has_parameter(name) || name.starts_with("qos_overrides.")) {
        continue;
      }
      const auto guess = rclrt::yaml::Suggester().suggest(name, known, "").guess;
      if (!guess.empty()) {
        throw std::invalid_argument("parameter " + name + " is unknown; did you mean " +
                                    std::string(guess) + "?");
      }
      std::string names;
      for (const std::string_view each : known) {
        names += (names.empty() ? "" : ", ") + std::string(each);
      }
      RCLCPP_WARN(get_logger(),
                  "parameter %s is unknown and has no effect; the container's parameters are %s",
                  name.c_str(), names.c_str());
    }
  }

  rclrt_robot::Robot robot_;
  std::vector<std::string> unused_;  // of the thread that serves; so is the next
  rclrt_rclcpp::Timing timing_;      // of the node that is being loaded
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc))) {
    if (argument == "--use_multi_threaded_executor") {  // of component_container_isolated
      std::fprintf(stderr,
                   "rclrt_component_container: --use_multi_threaded_executor has no effect; set "
                   "the parameters executor and thread_num instead\n");
    }
  }
  std::shared_ptr<Container> container;
  try {
    container = std::make_shared<Container>();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_component_container: %s\n", error.what());
    return 2;
  }
  // The container's own services run on another thread. When such a service unloads a node, it
  // waits until the node's callbacks have ended, and destroys the node after that.
  rclcpp::executors::SingleThreadedExecutor services;
  services.add_node(container);
  std::thread serving([&] { services.spin(); });
  int exit_code = 0;
  try {
    container->spin();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_component_container: %s\n", error.what());
    exit_code = 1;
  }
  rclcpp::shutdown();
  serving.join();
  for (const std::string& each : container->unused()) {
    RCLCPP_WARN(container->get_logger(), "%s", each.c_str());
  }
  return exit_code;
}
