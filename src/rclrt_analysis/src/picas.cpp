// SPDX-License-Identifier: Apache-2.0
#include "picas.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

namespace rclrt::analysis::detail {
namespace {

/// Chains, the most urgent first.
std::vector<std::size_t> by_urgency(const model::Application& application) {
  std::vector<std::size_t> result(application.chains.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  std::ranges::stable_sort(result, [&](std::size_t a, std::size_t b) {
    const model::Chain& first = application.chains[a];
    const model::Chain& second = application.chains[b];
    return std::tuple(-first.priority, first.deadline) <
           std::tuple(-second.priority, second.deadline);
  });
  return result;
}

/// A sequence of callbacks, the most urgent first.
class Sequence {
 public:
  Sequence(const model::Application& application, const CallbackGraph& graph)
      : application_(application),
        graph_(graph),
        place_(graph.order.size()),
        values_(application.callbacks.size()),
        taken_(application.callbacks.size(), false),
        walked_(application.callbacks.size(), false) {
    for (std::size_t i = 0; i < graph.order.size(); ++i) {
      place_[graph.order[i]] = i;
    }
  }

  void add(std::size_t chain) {
    std::vector<std::size_t> members;
    for (const std::size_t callback : application_.chains[chain].callbacks) {
      if (take(callback, members)) {
        values_[callback].chain = chain;
      }
    }
    for (const std::size_t callback : application_.chains[chain].callbacks) {
      if (application_.callbacks[callback].kind() != model::CallbackKind::kSync) {
        continue;
      }
      add_inputs(callback, members);
    }
    std::ranges::sort(members, std::greater{}, [this](std::size_t each) { return place_[each]; });
    order_.insert(order_.end(), members.begin(), members.end());
  }

  std::vector<SynthesizedPriority> priorities() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      values_[order_[i]].priority = static_cast<int>(order_.size() - i);
    }
    return std::move(values_);
  }

 private:
  bool take(std::size_t callback, std::vector<std::size_t>& members) {
    if (taken_.at(callback)) {
      return false;
    }
    taken_[callback] = true;
    members.push_back(callback);
    return true;
  }

  /// Appends to `members` all callbacks that lead to the sync and are not placed yet, and marks
  /// them as raised by this sync. The search stops at callbacks that an earlier call has visited,
  /// because their publishers are placed already.
  void add_inputs(std::size_t sync, std::vector<std::size_t>& members) {
    std::vector<std::size_t> open{sync};
    while (!open.empty()) {
      const std::size_t callback = open.back();
      open.pop_back();
      if (walked_[callback]) {
        continue;
      }
      walked_[callback] = true;
      for (const auto& input : graph_.publishers[callback]) {
        for (const std::size_t from : input) {
          if (take(from, members)) {
            values_[from].sync = sync;
          }
          open.push_back(from);
        }
      }
    }
  }

  const model::Application& application_;
  const CallbackGraph& graph_;
  std::vector<std::size_t> place_;  // index in topological order
  std::vector<std::size_t> order_;  // the most urgent first
  std::vector<SynthesizedPriority> values_;
  std::vector<bool> taken_;
  std::vector<bool> walked_;
};

}  // namespace

std::vector<SynthesizedPriority> picas_priorities(const model::Application& application,
                                                  const CallbackGraph& graph) {
  Sequence sequence(application, graph);
  for (const std::size_t chain : by_urgency(application)) {
    sequence.add(chain);
  }
  return sequence.priorities();
}

}  // namespace rclrt::analysis::detail
