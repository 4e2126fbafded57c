// SPDX-License-Identifier: Apache-2.0
// Mock hardware that records when each cycle reads and writes it, whatever runs the cycles. When it
// is deactivated or shut down it writes lines of "read NS" and "write NS COMMAND" (CLOCK_MONOTONIC,
// the first joint's velocity) into the file that the hardware parameter `probe_file` names.
#include <cstdint>
#include <fstream>
#include <mock_components/generic_system.hpp>
#include <optional>
#include <pluginlib/class_list_macros.hpp>
#include <string>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_ros2_control {

class ProbeSystem : public mock_components::GenericSystem {
 public:
  CallbackReturn on_init(
      const hardware_interface::HardwareComponentInterfaceParams& params) override {
    const auto found = params.hardware_info.hardware_parameters.find("probe_file");
    if (found == params.hardware_info.hardware_parameters.end()) {
      RCLCPP_ERROR(get_logger(), "the hardware parameter probe_file is missing");
      return CallbackReturn::ERROR;
    }
    file_ = found->second;
    command_name_ = params.hardware_info.joints.at(0).name + "/velocity";
    constexpr std::size_t kEvents = 2'000'000;  // 1000 s at 1 kHz
    events_.reserve(kEvents);
    return GenericSystem::on_init(params);
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& previous) override {
    write_file();
    return GenericSystem::on_deactivate(previous);
  }

  CallbackReturn on_shutdown(const rclcpp_lifecycle::State& previous) override {
    write_file();
    return GenericSystem::on_shutdown(previous);
  }

  hardware_interface::return_type read(const rclcpp::Time& time,
                                       const rclcpp::Duration& period) override {
    note({rclrt::realtime::monotonic_now_ns(), {}});
    return GenericSystem::read(time, period);
  }

  hardware_interface::return_type write(const rclcpp::Time& time,
                                        const rclcpp::Duration& period) override {
    const double command = get_command<double>(command_name_);
    const auto result = GenericSystem::write(time, period);
    note({rclrt::realtime::monotonic_now_ns(), command});
    return result;
  }

 private:
  struct Event {
    std::int64_t time_ns;
    std::optional<double> written;  // none: a read
  };

  void note(const Event& event) {
    if (events_.size() < events_.capacity()) {
      events_.push_back(event);
    }
  }

  void write_file() const {
    std::ofstream file(file_);
    for (const Event& event : events_) {
      if (event.written) {
        file << "write " << event.time_ns << ' ' << *event.written << '\n';
      } else {
        file << "read " << event.time_ns << '\n';
      }
    }
  }

  std::string file_;
  std::string command_name_;
  std::vector<Event> events_;
};

}  // namespace rclrt_ros2_control

PLUGINLIB_EXPORT_CLASS(rclrt_ros2_control::ProbeSystem, hardware_interface::SystemInterface)
