// SPDX-License-Identifier: Apache-2.0
#include "bounds/preemptive_form.hpp"

#include <vector>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

PreemptiveForm::PreemptiveForm(const model::Application& application, model::ExecutorKind kind)
    : stated_(application), kind_(kind) {
  const std::vector<int> tops = top_priorities(application, kind);
  if (const auto to_preemptive = bounds_of(kind).to_preemptive; to_preemptive != nullptr) {
    to_preemptive(form_.emplace(application), tops);
  }
}

}  // namespace rclrt::analysis::detail
