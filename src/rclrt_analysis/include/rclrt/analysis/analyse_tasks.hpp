// SPDX-License-Identifier: Apache-2.0
// One entrance for all policies.
#pragma once

#include <span>
#include <string_view>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// Returns the analysis of this policy: see fixed_priority.hpp and edf.hpp. Pure; may be called
/// from several threads. Throws std::invalid_argument for a task that the analysis does not take.
RCLRT_ANALYSIS_EXPORT TaskSetResult analyse_tasks(std::span<const Task> tasks, Policy policy,
                                                  Effort effort = {});

/// Returns the word of task files for it, such as "fp_preemptive".
RCLRT_ANALYSIS_EXPORT std::string_view to_string(Policy policy);

}  // namespace rclrt::analysis
