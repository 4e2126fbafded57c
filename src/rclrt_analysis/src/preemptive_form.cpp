// SPDX-License-Identifier: Apache-2.0
#include "preemptive_form.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

namespace rclrt::analysis::detail {
namespace {

using model::Application;

/// Puts the callbacks of an executor into one group. Groups belong to one node, so all get the node
/// of the first callback.
void unite_callbacks(Application& application) {
  std::vector<std::optional<std::size_t>> node(application.executors.size());
  const std::vector<int> priorities = application.effective_priorities();
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const std::size_t executor = application.executor_of(i);
    model::Callback& callback = application.callbacks[i];
    callback.priority = priorities[i];
    callback.executor = executor;
    if (!node[executor]) {
      node[executor] = callback.node;
    }
    callback.node = *node[executor];
    // No group of a file has blanks in its name.
    callback.group = "callbacks of " + application.executors[executor].name;
  }
}

/// Moves the levels of each executor below all those of the executors above it. Every one of its
/// callbacks is then less urgent than all of theirs, as its only thread is.
void separate_levels(Application& application, const std::vector<int>& tops) {
  std::vector<std::set<int>> levels(tops.size());
  const std::vector<int> priorities = application.effective_priorities();
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    levels[application.executor_of(i)].insert(priorities[i]);
  }
  std::vector<std::size_t> order(tops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t each) { return tops[each]; });
  int top = model::kTopPriority;
  for (const std::size_t each : order) {
    application.executors[each].top_priority = top;
    top -= static_cast<int>(levels[each].size());
  }
}

/// Gives each callback the priority of its thread.
void raise_callbacks(Application& application) {
  const std::vector<int> levels = thread_levels(application, model::ExecutorKind::kPerGroup);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    application.callbacks[i].priority = levels[i];
  }
}

void level_callbacks(Application& application) {
  for (model::Callback& callback : application.callbacks) {
    callback.priority = 0;
    callback.group.reset();
  }
}

}  // namespace

PreemptiveForm::PreemptiveForm(const Application& application, model::ExecutorKind kind)
    : stated_(application), kind_(kind) {
  const std::vector<int> tops = top_priorities(application, kind);
  switch (kind) {
    case model::ExecutorKind::kPicas:
      form_ = application;
      unite_callbacks(*form_);
      separate_levels(*form_, tops);
      break;
    case model::ExecutorKind::kEvents:
      form_ = application;
      level_callbacks(*form_);
      break;
    case model::ExecutorKind::kPerGroup:
      form_ = application;
      raise_callbacks(*form_);
      break;
    default:
      break;  // has an analysis of its own
  }
}

}  // namespace rclrt::analysis::detail
