// SPDX-License-Identifier: Apache-2.0
// The SCHED_FIFO priorities at which EDF executors run their callbacks.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Several EDF executors on one CPU order only their own instances by deadline. Between executors
/// the kernel decides by the priorities of their workers.
///
/// Let an executor have n distinct relative deadlines (none counts as one, the longest). Its
/// workers have the n priorities below its top priority, and worker i runs the i-th instance from
/// the bottom of the stack of started ones. An instance starts on top of others only if its
/// relative deadline is shorter than theirs, so each started instance has at most as many below it
/// as there are longer relative deadlines. This gives the highest priority of a callback. The
/// lowest priority of an executor is that of its worker 0. If any instance of an executor is ready,
/// one of its workers is ready at no less than this priority: the one that runs the top of the
/// stack or, if that does not hold the instance up, the worker above it.
struct EdfWorkers {
  explicit EdfWorkers(const model::Application& application);

  std::vector<int> lowest;   ///< of each executor
  std::vector<int> highest;  ///< of each callback

  /// Returns whether the callback may run while an instance of the executor is ready, which is
  /// another executor than the callback's.
  bool may_delay(std::size_t callback, std::size_t executor) const {
    return highest[callback] >= lowest[executor];
  }
};

}  // namespace rclrt::analysis::detail
