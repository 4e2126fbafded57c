// SPDX-License-Identifier: Apache-2.0
#include "tasks/levels.hpp"

#include <algorithm>
#include <numeric>

namespace rclrt::analysis::detail {

std::vector<std::vector<std::size_t>> levels_of(std::span<const Task> tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return tasks[a].priority > tasks[b].priority; });
  std::vector<std::vector<std::size_t>> levels;
  for (const std::size_t i : order) {
    if (levels.empty() || tasks[levels.back().front()].priority != tasks[i].priority) {
      levels.emplace_back();
    }
    levels.back().push_back(i);
  }
  return levels;
}

}  // namespace rclrt::analysis::detail
