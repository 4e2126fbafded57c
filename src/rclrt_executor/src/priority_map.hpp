// SPDX-License-Identifier: Apache-2.0
// Maps any set of levels to operating-system priorities.
#pragma once

#include <vector>

#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Maps the N distinct levels to the N SCHED_FIFO priorities right below `top`, in the same order,
/// the most urgent level to `top` - 1 (thesis, section 5.1.3, footnote 1, there with a fixed top).
class RCLRT_EXECUTOR_EXPORT PriorityMap {
 public:
  /// Throws std::invalid_argument when the levels do not fit into 1..top-1.
  RCLRT_SETUP PriorityMap(std::vector<int> levels, int top);

  /// Returns the levels, ascending, without duplicates.
  const std::vector<int>& levels() const noexcept RCLRT_NONBLOCKING { return levels_; }
  /// Returns the SCHED_FIFO priority of `level`, which must be one of `levels()`.
  int kernel_priority(int level) const noexcept RCLRT_NONBLOCKING {
    return first_ + static_cast<int>(index(level));
  }
  /// Returns the position of `level` in `levels()`.
  std::size_t index(int level) const noexcept RCLRT_NONBLOCKING;

 private:
  std::vector<int> levels_;
  int first_ = 0;
};

}  // namespace rclrt::executor
