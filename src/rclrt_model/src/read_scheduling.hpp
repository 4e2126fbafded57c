// SPDX-License-Identifier: Apache-2.0
// The keys by which a file states how threads are scheduled.
#pragma once

#include <string_view>
#include <vector>

#include "rclrt/model/thread_plan.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// The keys of a rule, its name among them.
std::vector<std::string_view> thread_rule_keys();

/// Reads a reservation from `runtime_ms`, `period_ms` and perhaps `deadline_ms`.
Reservation read_reservation(const Fields& rule, Context& context);

/// Reads everything of a rule but its name.
Scheduling read_scheduling(const Fields& rule, Context& context);

/// Reads an optional list of CPUs: distinct numbers in the order of the file.
std::vector<int> read_cpus(const Fields& fields, std::string_view key, Context& context);

}  // namespace rclrt::model::detail
