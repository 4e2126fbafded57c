// SPDX-License-Identifier: Apache-2.0
// Executors that have the bounds of `preemptive` for another application.
#pragma once

#include <optional>

#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_kind.hpp"

namespace rclrt::analysis::detail {

/// An application, and a kind of executor that has its own analysis. Under it no response is
/// shorter than under the stated kind. With one worker for each level, `preemptive` behaves as some
/// other kinds do for another application: see KindBounds::to_preemptive.
///
/// Keeps a reference to the application; callbacks and chains keep their indices.
class PreemptiveForm {
 public:
  /// Throws std::invalid_argument as model::top_priorities() and bounds_of() do.
  PreemptiveForm(const model::Application& application, model::ExecutorKind kind);

  const model::Application& application() const { return form_ ? *form_ : stated_; }
  model::ExecutorKind kind() const { return form_ ? model::ExecutorKind::kPreemptive : kind_; }

 private:
  const model::Application& stated_;
  model::ExecutorKind kind_;
  std::optional<model::Application> form_;
};

}  // namespace rclrt::analysis::detail
