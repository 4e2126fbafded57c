// SPDX-License-Identifier: Apache-2.0
// Starts the controllers of a running controller manager and then keeps its services busy: each of
// them is called again as soon as it has answered, and a spare controller is loaded and unloaded.
//
//   service_load SECONDS URDF_FILE PROBE_FILE
//   service_load drive URDF_FILE PROBE_FILE
//
// Prints "begin" when the load has begun, and the results as JSON at the end. `drive` also prints
// "driving" when a wheel has turned, and runs until it is ended.
#include <algorithm>
#include <chrono>
#include <controller_manager_msgs/srv/configure_controller.hpp>
#include <controller_manager_msgs/srv/list_controllers.hpp>
#include <controller_manager_msgs/srv/list_hardware_components.hpp>
#include <controller_manager_msgs/srv/list_hardware_interfaces.hpp>
#include <controller_manager_msgs/srv/load_controller.hpp>
#include <controller_manager_msgs/srv/set_hardware_component_state.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <controller_manager_msgs/srv/unload_controller.hpp>
#include <cstdio>
#include <cstdlib>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <fstream>
#include <functional>
#include <geometry_msgs/msg/twist_stamped.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <rclcpp/rclcpp.hpp>
#include <sensor_msgs/msg/joint_state.hpp>
#include <sstream>
#include <std_msgs/msg/string.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace {

using namespace std::chrono_literals;
namespace srv = controller_manager_msgs::srv;
using diagnostic_msgs::msg::DiagnosticArray;

constexpr std::chrono::seconds kPatience{120};              // the machine may be busy
constexpr std::int64_t kMonitorPeriods_ns = 2'000'000'000;  // two of the monitor's messages

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw std::runtime_error(path + ": cannot be read");
  }
  return text.str();
}

class Load : public rclcpp::Node {
 public:
  Load(const std::string& urdf_file, const std::string& probe_file) : Node("service_load") {
    executor_.add_node(get_node_base_interface());
    description_ = create_publisher<std_msgs::msg::String>("robot_description",
                                                           rclcpp::QoS(1).transient_local());
    std_msgs::msg::String urdf;
    urdf.data = read_file(urdf_file);
    const std::string blank = "PROBE_FILE";
    const std::size_t place = urdf.data.rfind(blank);
    if (place == std::string::npos) {
      throw std::runtime_error(urdf_file + ": has no " + blank);
    }
    urdf.data.replace(place, blank.size(), probe_file);
    description_->publish(urdf);
  }

  /// Loads, configures and activates the controllers.
  void start_controllers() {
    const std::vector<std::string> names{"joint_state_broadcaster", "diff_drive_controller"};
    for (const std::string& name : names) {
      const auto load = std::make_shared<srv::LoadController::Request>();
      load->name = name;
      require(call<srv::LoadController>("load_controller", load)->ok, "loading " + name);
      const auto configure = std::make_shared<srv::ConfigureController::Request>();
      configure->name = name;
      require(call<srv::ConfigureController>("configure_controller", configure)->ok,
              "configuring " + name);
    }
    const auto activate = std::make_shared<srv::SwitchController::Request>();
    activate->activate_controllers = names;
    activate->strictness = srv::SwitchController::Request::STRICT;
    activate->timeout.sec = 60;
    const auto answer = call<srv::SwitchController>("switch_controller", activate);
    require(answer->ok, "activating the controllers: " + answer->message);
  }

  /// Keeps the services busy for `time`, and until each of them has answered.
  void run(std::chrono::seconds time) {
    begin();
    const auto begun = std::chrono::steady_clock::now();
    const auto at_most = std::max(time, kPatience);
    const auto spent = [&] { return std::chrono::steady_clock::now() - begun; };
    while (rclcpp::ok() && (spent() < time || (!has_answered() && spent() < at_most))) {
      executor_.spin_once(100ms);
    }
    end_ns_ = rclrt::realtime::monotonic_now_ns();
    calling_.clear();
  }

  /// Keeps them busy until this process is ended.
  void drive() {
    begin();
    const auto until = std::chrono::steady_clock::now() + kPatience;
    bool is_driving = false;
    while (rclcpp::ok()) {
      executor_.spin_once(100ms);
      require(is_driving || std::chrono::steady_clock::now() < until, "driving");
      if (!is_driving && farthest_ > 0) {
        is_driving = true;
        std::printf("driving\n");
        std::fflush(stdout);
      }
    }
  }

  /// Deactivates the hardware, which then writes its records.
  void stop() {
    const auto request = std::make_shared<srv::SetHardwareComponentState::Request>();
    request->name = "wheels";
    request->target_state.label = "inactive";
    require(call<srv::SetHardwareComponentState>("set_hardware_component_state", request)->ok,
            "deactivating the hardware");
  }

  nlohmann::json results() const {
    return {{"begin_ns", begin_ns_},
            {"end_ns", end_ns_},
            {"calls", calls_},
            {"joint_states", joint_states_},
            {"wheel_position", farthest_},
            {"in_the_way_ms", in_the_way_ms_}};
  }

 private:
  void begin() {
    command_ = create_publisher<geometry_msgs::msg::TwistStamped>("diff_drive_controller/cmd_vel",
                                                                  rclcpp::QoS(1));
    driving_ = create_wall_timer(10ms, [this] {
      geometry_msgs::msg::TwistStamped command;
      command.header.stamp = now();
      command.twist.linear.x = 0.5;
      command_->publish(command);
    });
    joints_ = create_subscription<sensor_msgs::msg::JointState>(
        "joint_states", rclcpp::QoS(100), [this](const sensor_msgs::msg::JointState& message) {
          ++joint_states_;
          if (!message.position.empty()) {
            farthest_ = std::max(farthest_, message.position.front());
          }
        });
    diagnostics_ = create_subscription<DiagnosticArray>(
        "/diagnostics", 100, [this](const DiagnosticArray& message) { note_blame(message); });
    keep_calling<srv::ListControllers>("list_controllers");
    keep_calling<srv::ListHardwareComponents>("list_hardware_components");
    keep_calling<srv::ListHardwareInterfaces>("list_hardware_interfaces");
    keep_loading();
    begin_ns_ = rclrt::realtime::monotonic_now_ns();
    std::printf("begin\n");
    std::fflush(stdout);
  }

  bool has_answered() const {
    return calls_.size() == calling_.size() &&
           std::ranges::all_of(calls_, [](const auto& each) { return each.second > 0; });
  }

  static void require(bool is_ok, const std::string& what) {
    if (!is_ok) {
      throw std::runtime_error(what + " failed");
    }
  }

  template <typename Service>
  rclcpp::Client<Service>::SharedPtr client_of(const std::string& name) {
    const auto client = create_client<Service>("/controller_manager/" + name);
    require(client->wait_for_service(kPatience), "waiting for " + name);
    return client;
  }

  template <typename Service>
  Service::Response::SharedPtr call(const std::string& name, Service::Request::SharedPtr request) {
    const auto client = client_of<Service>(name);
    auto answer = client->async_send_request(request);
    require(executor_.spin_until_future_complete(answer, kPatience) ==
                rclcpp::FutureReturnCode::SUCCESS,
            "calling " + name);
    return answer.get();
  }

  template <typename Service>
  void keep_calling(const std::string& name) {
    const auto client = client_of<Service>(name);
    const auto again = std::make_shared<std::function<void()>>();
    *again = [this, client, name, weak = std::weak_ptr(again)] {
      client->async_send_request(std::make_shared<typename Service::Request>(),
                                 [this, name, weak](rclcpp::Client<Service>::SharedFuture) {
                                   ++calls_[name];
                                   if (const auto next = weak.lock()) {
                                     (*next)();
                                   }
                                 });
    };
    calling_.push_back(again);
    (*again)();
  }

  /// Loads and unloads an unused controller, again and again.
  void keep_loading() {
    const auto loading = client_of<srv::LoadController>("load_controller");
    const auto unloading = client_of<srv::UnloadController>("unload_controller");
    const auto again = std::make_shared<std::function<void()>>();
    *again = [this, loading, unloading, weak = std::weak_ptr(again)] {
      const auto load = std::make_shared<srv::LoadController::Request>();
      load->name = "spare";
      loading->async_send_request(
          load, [this, unloading, weak](rclcpp::Client<srv::LoadController>::SharedFuture) {
            const auto unload = std::make_shared<srv::UnloadController::Request>();
            unload->name = "spare";
            unloading->async_send_request(
                unload, [this, weak](rclcpp::Client<srv::UnloadController>::SharedFuture answer) {
                  calls_["load_and_unload"] += answer.get()->ok ? 1 : 0;
                  if (const auto next = weak.lock()) {
                    (*next)();
                  }
                });
          });
    };
    calling_.push_back(again);
    (*again)();
  }

  /// Notes the blame, except in the first messages, which also cover the start.
  void note_blame(const DiagnosticArray& message) {
    if (rclrt::realtime::monotonic_now_ns() < begin_ns_ + kMonitorPeriods_ns) {
      return;
    }
    for (const auto& status : message.status) {
      std::string culprit;
      for (const auto& [key, value] : values_of(status)) {
        if (key == "most_in_the_way") {
          culprit = value;
        } else if (key == "in_the_way_ms") {
          in_the_way_ms_[culprit] += std::strtod(value.c_str(), nullptr);
        }
      }
    }
  }

  static std::vector<std::pair<std::string, std::string>> values_of(
      const diagnostic_msgs::msg::DiagnosticStatus& status) {
    std::vector<std::pair<std::string, std::string>> result;
    if (status.name.starts_with("rclrt: ")) {
      for (const auto& each : status.values) {
        result.emplace_back(each.key, each.value);
      }
    }
    return result;
  }

  rclcpp::executors::SingleThreadedExecutor executor_;
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr description_;
  rclcpp::Publisher<geometry_msgs::msg::TwistStamped>::SharedPtr command_;
  rclcpp::TimerBase::SharedPtr driving_;
  rclcpp::Subscription<sensor_msgs::msg::JointState>::SharedPtr joints_;
  rclcpp::Subscription<DiagnosticArray>::SharedPtr diagnostics_;
  std::vector<std::shared_ptr<std::function<void()>>> calling_;
  std::map<std::string, long> calls_;
  std::map<std::string, double> in_the_way_ms_;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  long joint_states_ = 0;
  double farthest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bool drives = argc == 4 && std::string(argv[1]) == "drive";
  const long seconds = argc == 4 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (!drives && (seconds < 1 || seconds > 3600)) {
    std::fprintf(stderr, "usage: service_load SECONDS|drive URDF_FILE PROBE_FILE\n");
    return 2;
  }
  rclcpp::init(0, nullptr);
  int exit_code = 0;
  try {
    const auto load = std::make_shared<Load>(argv[2], argv[3]);
    load->start_controllers();
    if (drives) {
      load->drive();
    } else {
      load->run(std::chrono::seconds(seconds));
      load->stop();
      std::printf("%s\n", load->results().dump().c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "service_load: %s\n", error.what());
    exit_code = 1;
  }
  rclcpp::shutdown();
  return exit_code;
}
