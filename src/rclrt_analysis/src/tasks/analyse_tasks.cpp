// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/analyse_tasks.hpp"

#include "rclrt/analysis/edf.hpp"
#include "rclrt/analysis/fixed_priority.hpp"

namespace rclrt::analysis {

TaskSetResult analyse_tasks(std::span<const Task> tasks, Policy policy, Effort effort) {
  switch (policy) {
    case Policy::kFpPreemptive:
      return fixed_priority_preemptive(tasks, effort);
    case Policy::kFpNonpreemptive:
      return fixed_priority_nonpreemptive(tasks, effort);
    case Policy::kFpLimitedPreemptive:
      return fixed_priority_limited_preemptive(tasks, effort);
    case Policy::kEdf:
      return edf_preemptive(tasks, effort);
    case Policy::kEdfNonpreemptive:
      break;
  }
  return edf_nonpreemptive(tasks, effort);
}

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::kFpPreemptive:
      return "fp_preemptive";
    case Policy::kFpNonpreemptive:
      return "fp_nonpreemptive";
    case Policy::kFpLimitedPreemptive:
      return "fp_limited_preemptive";
    case Policy::kEdf:
      return "edf";
    case Policy::kEdfNonpreemptive:
      break;
  }
  return "edf_nonpreemptive";
}

}  // namespace rclrt::analysis
