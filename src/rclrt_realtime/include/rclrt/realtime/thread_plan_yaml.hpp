// SPDX-License-Identifier: Apache-2.0
// The section "threads" of a YAML file, for every file that has one.
#pragma once

#include <string_view>
#include <vector>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread_plan.hpp"
#include "rclrt/yaml/fields.hpp"

namespace rclrt::realtime {

/// The keys of a rule, for yaml::Fields.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<std::string_view> thread_rule_keys();

/// A list of rules. What is wrong is reported in the context.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<ThreadRule> read_thread_rules(
    const yaml::Node& section, yaml::Context& context);

/// Everything of a rule but its name.
RCLRT_REALTIME_EXPORT RCLRT_SETUP Scheduling read_rule_scheduling(const yaml::Fields& rule,
                                                                  yaml::Context& context);

/// The optional key "cpus": distinct numbers in the order of the file.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<int> read_cpus(const yaml::Fields& fields,
                                                             yaml::Context& context);

}  // namespace rclrt::realtime
