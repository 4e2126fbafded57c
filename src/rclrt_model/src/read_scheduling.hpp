// SPDX-License-Identifier: Apache-2.0
// The keys that state the scheduling of threads.
#pragma once

#include <string_view>
#include <vector>

#include "rclrt/model/thread_plan.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Returns the keys of a rule, including its name.
std::vector<std::string_view> thread_rule_keys();

/// Reads a reservation from `runtime_ms`, `period_ms` and the optional `deadline_ms`.
Reservation read_reservation(const Fields& rule, Context& context);

/// Reads all keys of a rule but its name.
Scheduling read_scheduling(const Fields& rule, Context& context);

/// Reads an optional list of CPUs: distinct numbers in the order of the file.
std::vector<int> read_cpus(const Fields& fields, std::string_view key, Context& context);

}  // namespace rclrt::model::detail
