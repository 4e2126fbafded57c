// SPDX-License-Identifier: Apache-2.0
#include "priority_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace rclrt::executor {

PriorityMap::PriorityMap(std::vector<int> levels, int top) : levels_(std::move(levels)) {
  if (top < 2 || top > 99) {
    throw std::invalid_argument("top_priority must be from 2 to 99, not " + std::to_string(top));
  }
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  const auto available = static_cast<std::size_t>(top - 1);
  if (levels_.size() > available) {
    throw std::invalid_argument(
        std::to_string(levels_.size()) + " priority levels do not fit into the " +
        std::to_string(available) + " SCHED_FIFO priorities below " + std::to_string(top) +
        ": use fewer distinct priorities (rclrt synthesize APP --levels " +
        std::to_string(available) + " merges some) or raise top_priority");
  }
  first_ = top - static_cast<int>(levels_.size());
}

std::size_t PriorityMap::index(int level) const noexcept RCLRT_NONBLOCKING {
  return static_cast<std::size_t>(std::lower_bound(levels_.begin(), levels_.end(), level) -
                                  levels_.begin());
}

}  // namespace rclrt::executor
