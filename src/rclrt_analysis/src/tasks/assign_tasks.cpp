// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/assign.hpp"

namespace rclrt::analysis {
namespace {

class Audsley {
 public:
  Audsley(std::span<const Task> tasks, Policy policy, Effort effort)
      : tasks_(tasks.begin(), tasks.end()), policy_(policy), effort_(effort) {
    open_.resize(tasks_.size());
    std::iota(open_.begin(), open_.end(), std::size_t{0});
    std::ranges::stable_sort(open_, std::greater{},
                             [this](std::size_t i) { return tasks_[i].deadline; });
  }

  TaskAssignment run() {
    order_above();
    for (int level = 1; !open_.empty(); ++level) {
      const auto fitting = std::ranges::find_if(
          open_, [&](std::size_t task) { return fits(task, level) == Answer::kYes; });
      if (fitting == open_.end()) {
        break;
      }
      tasks_[*fitting].priority = level;
      open_.erase(fitting);
    }
    TaskAssignment result;
    result.schedulable = open_.empty();
    result.optimal = !gave_up_ && std::ranges::all_of(tasks_, [](const Task& task) {
      return task.suspension == 0;
    });
    // The remaining tasks get the next levels, the one with the longest deadline the lowest.
    int level = static_cast<int>(tasks_.size() - open_.size());
    for (const std::size_t task : open_) {
      tasks_[task].priority = ++level;
    }
    for (const Task& task : tasks_) {
      result.priorities.push_back(task.priority);
    }
    return result;
  }

 private:
  /// Gives all tasks that have no priority yet priorities above all assigned ones. Their order does
  /// not change the result for the tasks below.
  void order_above() {
    int above = static_cast<int>(2 * tasks_.size());
    for (const std::size_t task : open_) {
      tasks_[task].priority = ++above;
    }
  }

  /// Returns whether the task meets its deadline at the priority `level`, while all tasks that have
  /// no priority yet are above it.
  Answer fits(std::size_t task, int level) {
    const int stated = tasks_[task].priority;
    tasks_[task].priority = level;
    const Answer answer = analyse_tasks(tasks_, policy_, effort_).tasks[task].schedulable;
    tasks_[task].priority = stated;
    gave_up_ = gave_up_ || answer == Answer::kUnknown;
    return answer;
  }

  std::vector<Task> tasks_;
  Policy policy_;
  Effort effort_;
  std::vector<std::size_t> open_;  // the longest deadline first
  bool gave_up_ = false;
};

}  // namespace

TaskAssignment assign_priorities(std::span<const Task> tasks, Policy policy, Effort effort) {
  if (policy == Policy::kEdf || policy == Policy::kEdfNonpreemptive) {
    throw std::invalid_argument("EDF goes by deadlines: there are no priorities to assign");
  }
  return Audsley(tasks, policy, effort).run();
}

}  // namespace rclrt::analysis
