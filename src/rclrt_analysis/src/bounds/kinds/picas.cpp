// SPDX-License-Identifier: Apache-2.0
// `preemptive` with one group for each executor, in levels of its own: by the immediate ceiling, a
// member that has started is not preempted by the others, and the most urgent one that waits is
// next.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Puts all callbacks of each executor into one callback group, as if its only thread ran them one
/// by one. A group belongs to a node, so all of them get the node of the executor's first callback.
void unite_callbacks(model::Application& application) {
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

/// Gives the executors separate ranges of priorities, in the order of `tops`, their threads'
/// priorities. All callbacks of an executor are then less urgent than all callbacks of the
/// executors above it, as its only thread is.
void separate_levels(model::Application& application, const std::vector<int>& tops) {
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

void to_preemptive(model::Application& application, const std::vector<int>& tops) {
  unite_callbacks(application);
  separate_levels(application, tops);
}

}  // namespace

constinit const KindBounds kinds::kPicas{
    .to_preemptive = &to_preemptive, .by_release = true, .pool = Pool::kSingle};

}  // namespace rclrt::analysis::detail
