// SPDX-License-Identifier: Apache-2.0
#include "extra_arguments.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/suggest.hpp"

namespace rclrt_robot {

namespace {

using rclcpp_components::ComponentManagerException;

/// Extra arguments of a node that rclrt reads, and those that the base class reads.
constexpr std::array<std::string_view, 4> kNames = {
    "priority", "deadline_ms", "use_intra_process_comms", "forward_global_arguments"};

/// Reads the extra arguments of a request to load a node.
class ExtraArguments {
 public:
  using Request = composition_interfaces::srv::LoadNode::Request;

  explicit ExtraArguments(const Request& request) : request_(request) {}

  /// Returns the timing of the node. Throws ComponentManagerException for an argument that is
  /// unknown, stated twice, of a wrong type or out of its range.
  rclrt_rclcpp::Timing timing() const {
    rclrt_rclcpp::Timing timing;
    std::set<std::string> seen;
    for (const auto& message : request_.extra_arguments) {
      const rclcpp::Parameter argument = rclcpp::Parameter::from_parameter_msg(message);
      const std::string& name = argument.get_name();
      if (!seen.insert(name).second) {
        refuse(name, "is stated twice; expected a single value");
      }
      if (name == "priority") {
        timing.priority = priority_of(argument);
      } else if (name == "deadline_ms") {
        timing.deadline = deadline_of(argument);
      } else if (std::ranges::find(kNames, name) == kNames.end()) {
        refuse_unknown(name);
      } else if (argument.get_type() != rclcpp::PARAMETER_BOOL) {
        refuse(argument, "true or false");
      }
    }
    return timing;
  }

 private:
  int priority_of(const rclcpp::Parameter& argument) const {
    constexpr std::int64_t kMost = 1'000'000;  // as in the files
    if (argument.get_type() != rclcpp::PARAMETER_INTEGER || argument.as_int() < 0 ||
        argument.as_int() > kMost) {
      refuse(argument, "an integer between 0 and 1000000; higher is more urgent");
    }
    return static_cast<int>(argument.as_int());
  }

  std::chrono::nanoseconds deadline_of(const rclcpp::Parameter& argument) const {
    constexpr double kMostMs = 3'600'000;  // an hour, as in the files
    double ms = 0;
    if (argument.get_type() == rclcpp::PARAMETER_INTEGER) {
      ms = static_cast<double>(argument.as_int());
    } else if (argument.get_type() == rclcpp::PARAMETER_DOUBLE) {
      ms = argument.as_double();
    }
    if (!(ms >= 1e-6 && ms <= kMostMs)) {  // at least a nanosecond
      refuse(argument, "a number of milliseconds above 0, at most 3600000");
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double, std::milli>(ms));
  }

  [[noreturn]] void refuse_unknown(const std::string& name) const {
    const std::vector<std::string_view> known(kNames.begin(), kNames.end());
    const auto guess = rclrt::yaml::Suggester().suggest(name, known, "").guess;
    refuse(name, "is unknown; " +
                     (guess.empty() ? "" : "did you mean " + rclrt::yaml::in_quotes(guess) + "? ") +
                     "expected " + rclrt::yaml::list_in_quotes(known));
  }

  [[noreturn]] void refuse(const rclcpp::Parameter& argument, const std::string& expected) const {
    refuse(argument.get_name(), "is " + rclrt::yaml::in_quotes(argument.value_to_string()) + " (" +
                                    argument.get_type_name() + "); expected " + expected);
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    throw ComponentManagerException("extra argument " + rclrt::yaml::in_quotes(name) + " of node " +
                                    node() + " " + why);
  }

  /// Returns the stated name of the node, or its class if the request states no name.
  std::string node() const {
    const std::string& name = request_.node_name;
    return rclrt::yaml::in_quotes(
        name.empty()
            ? request_.plugin_name
            : request_.node_namespace + (request_.node_namespace.ends_with('/') ? "" : "/") + name);
  }

  const Request& request_;
};

}  // namespace

rclrt_rclcpp::Timing timing_of(const composition_interfaces::srv::LoadNode::Request& request) {
  return ExtraArguments(request).timing();
}

}  // namespace rclrt_robot
