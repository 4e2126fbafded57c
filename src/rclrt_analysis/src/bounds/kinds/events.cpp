// SPDX-License-Identifier: Apache-2.0
// `preemptive` with one level: one worker takes the callbacks in order of release.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Gives all callbacks one priority.
void level_callbacks(model::Application& application, const std::vector<int>& /*tops*/) {
  for (model::Callback& callback : application.callbacks) {
    callback.priority = 0;
    callback.group.reset();
  }
}

}  // namespace

constinit const KindBounds kinds::kEvents{.to_preemptive = &level_callbacks, .by_release = true};

}  // namespace rclrt::analysis::detail
