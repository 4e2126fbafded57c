// SPDX-License-Identifier: Apache-2.0
// Executors that have the bounds of `preemptive` for another application.
#pragma once

#include <optional>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// Converts an application under a kind of executor to an application and a kind with an analysis
/// of its own. Bounds of the converted form hold for the original one: no response is shorter under
/// it. Some kinds behave like `preemptive` with one worker per level, for another application: see
/// KindBounds::to_preemptive.
///
/// Keeps a reference to the application. The indices of callbacks and chains stay the same.
class PreemptiveForm {
 public:
  /// Throws std::invalid_argument as model::top_priorities() and bounds_of() do.
  PreemptiveForm(const model::Application& application, const model::ExecutorChoice& executor);

  const model::Application& application() const { return form_ ? *form_ : stated_; }
  model::ExecutorKind kind() const { return form_ ? model::ExecutorKind::kPreemptive : kind_; }

  /// Takes over the execution times, periods and intervals of the application after a change.
  void copy_times();

 private:
  const model::Application& stated_;
  model::ExecutorKind kind_;
  std::optional<model::Application> form_;
};

/// Gives all callbacks one priority: a KindBounds::to_preemptive. Groups stay.
void level_callbacks(model::Application& application, const std::vector<int>& tops);

}  // namespace rclrt::analysis::detail
