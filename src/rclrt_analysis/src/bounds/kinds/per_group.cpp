// SPDX-License-Identifier: Apache-2.0
// `preemptive` with each callback at the priority of its group's thread: callbacks of one priority
// then delay each other in any order.
#include <cstddef>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Gives each callback the priority of its thread.
void raise_callbacks(model::Application& application, const std::vector<int>& /*tops*/) {
  const std::vector<int> levels = group_levels(application);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    application.callbacks[i].priority = levels[i];
  }
}

}  // namespace

constinit const KindBounds kinds::kPerGroup{.to_preemptive = &raise_callbacks,
                                            .pool = Pool::kEnough};

}  // namespace rclrt::analysis::detail
