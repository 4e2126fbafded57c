// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/utilisation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "load.hpp"

namespace rclrt::analysis {
double utilisation(std::span<const Task> tasks) {
  double sum = 0;
  for (const Task& task : tasks) {
    sum += static_cast<double>(task.wcet) / static_cast<double>(task.period);
  }
  return sum;
}

std::partial_ordering compare_utilisation_with_one(std::span<const Task> tasks) {
  detail::Load load;
  for (const Task& task : tasks) {
    load.add(task.wcet, task.period);
  }
  return load.compare_with_one();
}

double liu_layland_bound(std::size_t tasks) {
  if (tasks == 0) {
    return 1;
  }
  const auto n = static_cast<double>(tasks);
  return n * std::expm1(std::log(2.0) / n);
}

bool passes_liu_layland(std::span<const Task> tasks) {
  if (tasks.size() == 1) {
    return compare_utilisation_with_one(tasks) <= 0;
  }
  return utilisation(tasks) <= liu_layland_bound(tasks.size());
}

bool passes_hyperbolic_bound(std::span<const Task> tasks) {
  if (tasks.size() == 1) {
    return compare_utilisation_with_one(tasks) <= 0;
  }
  double product = 1;
  for (const Task& task : tasks) {
    product *= static_cast<double>(task.wcet) / static_cast<double>(task.period) + 1;
  }
  return product <= 2;
}

bool is_plain_rate_monotonic(std::span<const Task> tasks) {
  std::vector<const Task*> order;
  order.reserve(tasks.size());
  for (const Task& task : tasks) {
    order.push_back(&task);
  }
  std::ranges::sort(order, [](const Task* a, const Task* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->period < b->period;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Task& task = *order[i];
    if (task.deadline < task.period || task.jitter != 0 || task.blocking != 0 ||
        task.suspension != 0 || task.region != 0) {
      return false;
    }
    if (i > 0 && task.period < order[i - 1]->period) {
      return false;
    }
    // Each period needs a level of its own: tasks of one level delay each other.
    if (i > 0 && task.priority == order[i - 1]->priority && task.period != order[i - 1]->period) {
      return false;
    }
  }
  return true;
}

}  // namespace rclrt::analysis
