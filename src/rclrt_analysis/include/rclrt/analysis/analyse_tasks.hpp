// SPDX-License-Identifier: Apache-2.0
// One entry point for the analyses of all policies.
#pragma once

#include <span>
#include <string_view>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// Bounds the response times of the tasks under this scheduling policy, with the analysis in
/// fixed_priority.hpp or edf.hpp. Pure; may be called from several threads. Throws
/// std::invalid_argument for a task that this analysis does not support.
RCLRT_ANALYSIS_EXPORT TaskSetResult analyse_tasks(std::span<const Task> tasks, Policy policy,
                                                  Effort effort = {});

/// Returns the policy's name in task files, such as "fp_preemptive".
RCLRT_ANALYSIS_EXPORT std::string_view to_string(Policy policy);

}  // namespace rclrt::analysis
