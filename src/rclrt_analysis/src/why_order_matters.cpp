// SPDX-License-Identifier: Apache-2.0
// Where the bound of a chain depends only on which callbacks are more urgent, and where also on
// their order.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bounds/cores.hpp"
#include "bounds/level_work.hpp"
#include "callback_graph.hpp"
#include "rclrt/analysis/bound_priorities.hpp"

namespace rclrt::analysis {
namespace {

using model::Application;

class Conditions {
 public:
  Conditions(const Application& application, ExecutorKind executor, const Overheads& overheads)
      : application_(application),
        kind_(traits(executor)),
        graph_(application),
        cores_(application, graph_, kind_.has_scheduler_thread),
        chains_of_(application.callbacks.size()) {
    for (const model::Chain& chain : application.chains) {
      for (const std::size_t callback : chain.callbacks) {
        ++chains_of_[callback];
      }
    }
    check_kind();
    if (overheads.near.max > 0) {
      add("messages within an executor take time, so each callback is bounded by itself");
    }
    check_executors();
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      check_callback(i);
    }
    if (!application.cause_effect_chains.empty()) {
      add("the limits of chains that sample depend on the bounds of several chains");
    }
  }

  std::vector<std::string> take() { return std::move(result_); }

 private:
  void add(std::string text) {
    if (std::ranges::find(result_, text) == result_.end()) {
      result_.push_back(std::move(text));
    }
  }

  void check_kind() {
    if (kind_.kind == ExecutorKind::kPerGroup) {
      add("under per_group a callback runs at the priority of the most urgent member of its group");
    } else if (!kind_.has_levels && kind_.kind != ExecutorKind::kPicas) {
      add("under " + std::string(kind_.name) + " priorities do not order the callbacks");
    }
  }

  void check_executors() {
    const bool any_without_cpus = std::ranges::any_of(
        application_.executors, [](const auto& each) { return each.cpus.empty(); });
    for (std::size_t i = 0; i < application_.executors.size(); ++i) {
      if (std::ranges::find(cores_.executor_of, i) == cores_.executor_of.end()) {
        continue;
      }
      const std::string name = "executor '" + application_.executors[i].name + "' ";
      const bool is_only = application_.executors.size() == 1;
      if (!cores_.alone(i) || (any_without_cpus && !is_only)) {
        add(name + "shares a CPU or exchanges messages with another executor");
      } else if (!kind_.one_at_a_time &&
                 (any_without_cpus || cores_.global(application_, i, false))) {
        add(name + "uses several CPUs: a bound counts the responses of more urgent chains");
      }
    }
  }

  void check_callback(std::size_t index) {
    const model::Callback& callback = application_.callbacks[index];
    const std::string name = "callback '" + callback.id + "' ";
    if (graph_.publishers[index].size() > 1) {
      const bool is_sync = callback.kind() == model::CallbackKind::kSync;
      add(name + (is_sync ? "is a synchroniser" : "takes several topics"));
    }
    if (chains_of_[index] > 1) {
      add(name + "is on several chains");
    }
    if (detail::stated_offset(callback)) {
      add(name + "states its offset");
    }
    if (chains_of_[index] == 0 && (callback.group || is_joined(index))) {
      add(name + "is on no chain, but shares its " +
          (callback.group ? "group" : "timer or its messages") + " with callbacks of chains");
    }
  }

  /// Returns whether a callback of a chain releases this one, or is released by it.
  bool is_joined(std::size_t index) const {
    const auto on_chain = [this](std::size_t other) { return chains_of_[other] > 0; };
    const auto any_on_chain = [&](const std::vector<std::size_t>& callbacks) {
      return std::ranges::any_of(callbacks, on_chain);
    };
    return any_on_chain(graph_.successors[index]) ||
           std::ranges::any_of(graph_.publishers[index], any_on_chain);
  }

  const Application& application_;
  const model::ExecutorTraits& kind_;
  detail::CallbackGraph graph_;
  detail::Cores cores_;
  std::vector<int> chains_of_;  // number of chains that each callback is on
  std::vector<std::string> result_;
};

}  // namespace

std::vector<std::string> why_order_matters(const Application& application, ExecutorKind executor,
                                           const Overheads& overheads) {
  return Conditions(application, executor, overheads).take();
}

}  // namespace rclrt::analysis
