// SPDX-License-Identifier: Apache-2.0
#include "bounds/preemptive_form.hpp"

#include <vector>

#include "bounds/kind.hpp"
#include "input_callbacks.hpp"

namespace rclrt::analysis::detail {

PreemptiveForm::PreemptiveForm(const model::Application& application,
                               const model::ExecutorChoice& executor)
    : stated_(application), kind_(executor.kind) {
  const std::vector<int> tops = top_priorities(application, executor.kind);
  if (const auto to_preemptive = bounds_of(executor).to_preemptive; to_preemptive != nullptr) {
    to_preemptive(form_.emplace(application), tops);
  }
}

void PreemptiveForm::copy_times() {
  for (std::size_t i = 0; form_ && i < stated_.callbacks.size(); ++i) {
    copy_times_of(stated_.callbacks[i], form_->callbacks[i]);
  }
}

void level_callbacks(model::Application& application, const std::vector<int>& /*tops*/) {
  for (model::Callback& callback : application.callbacks) {
    callback.priority = 0;
  }
}

}  // namespace rclrt::analysis::detail
