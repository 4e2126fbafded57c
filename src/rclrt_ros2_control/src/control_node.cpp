// SPDX-License-Identifier: Apache-2.0
// ros2_control's controller manager under rclrt: replaces ros2_control_node.
//
//   ros2 run rclrt_ros2_control rclrt_ros2_control_node --ros-args --params-file controllers.yaml
//       -p robot:=robot.yaml
//
// The control loop is a callback of rclrt's executor, at the highest priority of the process, with
// its period as deadline. It takes the parameters of ros2_control_node, and `robot`.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <lifecycle_msgs/msg/state.hpp>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <realtime_tools/realtime_helpers.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "control_loop.hpp"
#include "node_options.hpp"
#include "rclrt/model/executor_kind.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt_robot/robot.hpp"

namespace {

using controller_manager::ControllerManager;
using rclrt_ros2_control::ControlLoop;
using rclrt_ros2_control::kManagerName;

constexpr int kLoopPriority = 1'000'000;  // a robot.yaml may go higher
constexpr int kThreadPriority = 50;       // as ros2_control_node's

/// Returns whether an executor of this kind has a thread for the loop that is never occupied by a
/// service that waits for the loop. That is so with a thread for each level, instance or group.
bool has_thread_for_loop(const rclrt::model::ExecutorTraits& kind) {
  using rclrt::model::ExecutorThreads;
  return kind.on_rclcpp && (kind.threads == ExecutorThreads::kPerLevel ||
                            kind.threads == ExecutorThreads::kPerInstance ||
                            kind.threads == ExecutorThreads::kPerGroup);
}

/// Throws if the services that wait for the loop would take its thread.
void require_thread_for_loop(const std::string& file, const std::string& executor) {
  std::string expected;
  for (const rclrt::model::ExecutorTraits& kind : rclrt::model::executor_kinds()) {
    if (has_thread_for_loop(kind)) {
      if (kind.name == executor) {
        return;
      }
      expected += (expected.empty() ? "" : ", ") + std::string(kind.name);
    }
  }
  throw std::invalid_argument(
      file + ": executor kind '" + executor +
      "': this kind has no thread that stays free for the control loop while services wait for it; "
      "expected one of " +
      expected);
}

/// Returns the options from the file that the parameter `robot` names. Without a file, everything
/// except the loop is best effort, as in ros2_control_node: services, parameters and the
/// subscriptions of controllers.
rclrt_robot::RobotOptions load_robot(const std::string& file) {
  if (file.empty()) {
    rclrt_robot::RobotOptions robot;
    robot.options.engine.best_effort_below = kLoopPriority;
    return robot;
  }
  return rclrt_robot::load_robot(file);
}

/// Returns the options from the file of the parameter `robot` and from the parameters that
/// ros2_control_node has, too. Throws std::invalid_argument for values that are not supported.
rclrt_robot::RobotOptions read_robot(rclcpp::Node& node) {
  if (node.get_parameter_or("hardware_synchronization.expect_blocking_read_write", false)) {
    throw std::invalid_argument(
        "parameter hardware_synchronization.expect_blocking_read_write: reading and writing "
        "hardware that blocks needs a thread of its own; use ros2_control_node");
  }
  const auto file = node.get_parameter_or<std::string>("robot", "");
  rclrt_robot::RobotOptions robot = load_robot(file);
  require_thread_for_loop(file, robot.executor);
  // Also without permission for real time, no service delays the loop until its end.
  robot.options.engine.preemption = rclrt::executor::Preemption::kAlways;
  const bool is_stated = node.has_parameter("thread_priority");
  if (is_stated || file.empty()) {
    const auto priority = node.get_parameter_or<std::int64_t>("thread_priority", kThreadPriority);
    if (priority < 1 || priority > 94) {
      throw std::invalid_argument("parameter thread_priority: " + std::to_string(priority) +
                                  "; expected 1 to 94");
    }
    // The engine's own thread is above its most urgent level.
    robot.options.engine.top_priority = static_cast<int>(priority) + 1;
  }
  return robot;
}

/// Warns of parameters for the thread of ros2_control_node that have no effect here, because the
/// executor sets its threads up by its own options.
void warn_of_settings(rclcpp::Node& node) {
  if (node.has_parameter("cpu_affinity")) {
    RCLCPP_WARN(node.get_logger(),
                "cpu_affinity has no effect here; fix: executor: {cpus: [...]} in robot.yaml");
  }
  if (!node.get_parameter_or("overruns.manage", true)) {
    RCLCPP_WARN(node.get_logger(),
                "overruns.manage: false has no effect: the loop skips the releases it is late for");
  }
}

rclrt_robot::RobotOptions ask_for_robot(rclcpp::NodeOptions options) {
  options.start_parameter_services(false).start_parameter_event_publisher(false);
  rclcpp::Node node(kManagerName, options.enable_rosout(false));
  warn_of_settings(node);
  return read_robot(node);
}

/// A controller manager that deactivates its controllers as its service does: one switch at a time.
class Manager : public ControllerManager {
 public:
  using ControllerManager::ControllerManager;

  /// Requests that the controllers are deactivated, and waits up to `at_most` for the cycle that
  /// does so. Returns whether no controller is active any more.
  bool deactivate_controllers(std::chrono::nanoseconds at_most) {
    namespace srv = controller_manager_msgs::srv;
    const auto request = std::make_shared<srv::SwitchController::Request>();
    for (const auto& controller : get_loaded_controllers()) {
      if (controller.c->get_lifecycle_id() == lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
        request->deactivate_controllers.push_back(controller.info.name);
      }
    }
    if (request->deactivate_controllers.empty()) {
      return true;
    }
    request->strictness = srv::SwitchController::Request::BEST_EFFORT;
    request->timeout = rclcpp::Duration(at_most);
    const auto response = std::make_shared<srv::SwitchController::Response>();
    switch_controller_service_cb(request, response);
    return response->ok;
  }
};

/// Locks the memory before the loop is made, because the lock would delay its first releases.
std::shared_ptr<Manager> make_manager(const rclcpp::NodeOptions& options,
                                      std::shared_ptr<rclcpp::Executor> executor) {
  auto manager = std::make_shared<Manager>(std::move(executor), kManagerName, "", options);
  if (manager->get_parameter_or("lock_memory", realtime_tools::has_realtime_kernel())) {
    if (const auto reason = rclrt::realtime::lock_memory()) {
      RCLCPP_WARN(manager->get_logger(), "%s", reason->c_str());
    }
  }
  return manager;
}

/// Calls a function just before the context is shut down, while this object exists. If there are
/// several objects, their functions are called in the order of construction.
class BeforeShutdown {
 public:
  explicit BeforeShutdown(const std::function<void()>& function)
      : handle_(context()->add_pre_shutdown_callback(function)) {}
  ~BeforeShutdown() { context()->remove_pre_shutdown_callback(handle_); }
  BeforeShutdown(const BeforeShutdown&) = delete;
  BeforeShutdown& operator=(const BeforeShutdown&) = delete;

 private:
  static rclcpp::Context::SharedPtr context() {
    return rclcpp::contexts::get_global_default_context();
  }

  const rclcpp::PreShutdownCallbackHandle handle_;
};

/// The manager, its loop and the executor that runs both.
class ControlProcess {
 public:
  /// Throws as `read_robot` does, and if an executor refuses the options.
  explicit ControlProcess(const rclcpp::NodeOptions& options)
      : ControlProcess(options, ask_for_robot(options)) {}

  /// Runs the manager and its loop; returns when the context has been shut down. If a callback
  /// throws, the manager deactivates its controllers and hardware, and then the exception is
  /// rethrown.
  void spin() {
    has_cycles_ = true;
    try {
      robot_.spin();
    } catch (...) {
      has_cycles_ = false;
      rclcpp::shutdown();  // while there is a manager
      throw;
    }
    if (priority_ > 0) {
      realtime_tools::configure_sched_fifo(priority_);
    }
    loop_.run_until_shutdown();
  }

 private:
  ControlProcess(const rclcpp::NodeOptions& options, rclrt_robot::RobotOptions robot)
      : priority_(robot.options.engine.realtime == rclrt::executor::Realtime::kOff
                      ? 0
                      : robot.options.engine.top_priority - 1),
        robot_(std::move(robot)),      // the manager's constructor needs the executor
        halting_([this] { halt(); }),  // deactivates before the manager ends the executor
        manager_(make_manager(options, robot_.shared_executor())),
        loop_(manager_) {
    robot_.executor().set_timing(loop_.timer(),
                                 {.priority = kLoopPriority, .deadline = loop_.period()});
    robot_.executor().add_node(manager_);
    loop_.add_to(robot_.executor());
  }

  /// Deactivates the controllers while the cycles continue, and waits until their stop commands
  /// have been written. If there are no cycles, for example because /clock does not advance, the
  /// manager does this later. Called on the thread of the signal, or on the thread that shuts down.
  void halt() {
    constexpr std::chrono::seconds kPatience{2};  // in all; the parent process may not wait longer
    const auto until = std::chrono::steady_clock::now() + kPatience;
    try {
      if (!has_cycles_ || !loop_.wait_for(loop_.cycles() + 1, until)) {
        return;
      }
      const bool is_done =
          manager_->deactivate_controllers(until - std::chrono::steady_clock::now()) &&
          // The cycle that has deactivated them may still run.
          loop_.wait_for(loop_.cycles() + 2, until);
      if (!is_done) {
        RCLCPP_WARN(manager_->get_logger(),
                    "the control loop did not deactivate the controllers within 2 s");
      }
    } catch (const std::exception& error) {
      RCLCPP_ERROR(manager_->get_logger(), "could not deactivate the controllers: %s",
                   error.what());
    }
  }

  const int priority_;                   // of the most urgent level; 0: normal scheduling
  std::atomic<bool> has_cycles_{false};  // it spins; publishes no other data
  rclrt_robot::Robot robot_;             // outlives the users of its executor
  const BeforeShutdown halting_;
  const std::shared_ptr<Manager> manager_;
  ControlLoop loop_;
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  int exit_code = 2;  // an error in the options
  try {
    ControlProcess process(rclrt_ros2_control::node_options(argc, argv));
    exit_code = 1;  // an error at run time
    process.spin();
    rclcpp::shutdown();  // waits for the manager's actions at shutdown before the manager ends
    exit_code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_ros2_control_node: %s\n", error.what());
  }
  rclcpp::shutdown();
  return exit_code;
}
