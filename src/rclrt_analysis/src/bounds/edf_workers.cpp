// SPDX-License-Identifier: Apache-2.0
#include "bounds/edf_workers.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "bounds/holistic.hpp"

namespace rclrt::analysis::detail {

EdfWorkers::EdfWorkers(const model::Application& application)
    : lowest(application.executors.size()), highest(application.callbacks.size()) {
  const auto deadline_of = [&](std::size_t callback) {
    return edf_deadline(application.callbacks[callback]).value_or(kHorizon);
  };
  for (std::size_t executor = 0; executor < lowest.size(); ++executor) {
    std::set<Ticks> deadlines;
    for (std::size_t i = 0; i < highest.size(); ++i) {
      if (application.executor_of(i) == executor) {
        deadlines.insert(deadline_of(i));
      }
    }
    const int top = application.executors[executor].top_priority.value_or(model::kTopPriority);
    const auto classes = static_cast<int>(std::min<std::size_t>(deadlines.size(), 1000));
    const int workers = std::clamp(classes, 1, std::max(top - 1, 1));
    lowest[executor] = top - workers;
    for (std::size_t i = 0; i < highest.size(); ++i) {
      if (application.executor_of(i) == executor) {
        const auto longer = std::distance(deadlines.upper_bound(deadline_of(i)), deadlines.end());
        const auto below = static_cast<int>(std::min<std::ptrdiff_t>(longer, workers - 1));
        highest[i] = lowest[executor] + below;
      }
    }
  }
}

}  // namespace rclrt::analysis::detail
