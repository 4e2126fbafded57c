// SPDX-License-Identifier: Apache-2.0
#include "tasks/check_tasks.hpp"

#include <stdexcept>
#include <string>

namespace rclrt::analysis::detail {
namespace {

[[noreturn]] void refuse(const Task& task, const std::string& what) {
  throw std::invalid_argument("task '" + task.id + "': " + what);
}

void check_time(const Task& task, const char* name, Ticks value, Ticks least) {
  if (value >= least && value <= kMaxTicks) {
    return;
  }
  refuse(task, std::string(name) + " is " + std::to_string(value) + "; expected " +
                   std::to_string(least) + " to " + std::to_string(kMaxTicks) + " ticks");
}

}  // namespace

void check_tasks(std::span<const Task> tasks) {
  for (const Task& task : tasks) {
    check_time(task, "the WCET", task.wcet, 0);
    check_time(task, "the period", task.period, 1);
    check_time(task, "the deadline", task.deadline, 0);
    check_time(task, "the jitter", task.jitter, 0);
    check_time(task, "the blocking", task.blocking, 0);
    check_time(task, "the suspension", task.suspension, 0);
    check_time(task, "the non-preemptive region", task.region, 0);
    if (task.wcet + task.suspension > kMaxTicks) {
      refuse(task, "WCET and suspension are too long");
    }
  }
}

void check_tasks_without_suspension(std::span<const Task> tasks, const char* analysis) {
  check_tasks(tasks);
  for (const Task& task : tasks) {
    if (task.suspension == 0) {
      continue;
    }
    refuse(task, std::string("suspension is not offered for ") + analysis +
                     ": each part of the job would be blocked anew; expected no suspension, or a "
                     "preemptive policy");
  }
}

}  // namespace rclrt::analysis::detail
