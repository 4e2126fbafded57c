// SPDX-License-Identifier: Apache-2.0
// Whether the deadlines of an application hold, for many values of its times.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bounds/application_bounds.hpp"
#include "bounds/preemptive_form.hpp"
#include "input_callbacks.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// Answers whether all deadlines and limits of an application are proved, with as little work as
/// the answer needs: the chain that has missed its deadline last is tried first, and the first miss
/// is the answer. All that does not depend on times is computed once.
class DeadlineTrials {
 public:
  /// Keeps a reference to the application. Throws as chain_bounds() does.
  DeadlineTrials(const model::Application& application, const model::ExecutorChoice& executor,
                 const Overheads& overheads, Effort effort);

  /// Call it after execution times, periods or intervals of the application have changed.
  void times_changed();

  /// Returns the number of a chain that misses its deadline, or number() - 1 if no chain does but a
  /// limit of a chain that samples is exceeded. nullopt: all hold. With Look::kQuick, some may be
  /// counted as missed that Look::kFull proves.
  std::optional<std::size_t> first_missed(Look look);

  /// Returns by how much the response of one chain may grow until it misses its deadline; less than
  /// 0 if it does. For the limits of chains that sample, returns 0 or -kHorizon.
  Ticks room(std::size_t chain, Look look);

  /// Returns whether Look::kQuick takes less time than Look::kFull.
  bool has_quick_look() { return bounds_ && bounds_->has_quick_look(); }

  /// Returns the number of chains, plus one for the limits of chains that sample.
  std::size_t number() const { return application_.chains.size() + 1; }

 private:
  Ticks response(std::size_t chain, Ticks limit, Look look);
  bool limits_hold() const;

  const model::Application& application_;
  model::ExecutorChoice executor_;
  Overheads overheads_;
  Effort effort_;
  std::vector<std::size_t> order_;  // of chains with a deadline, in which they are tried
  PreemptiveForm form_;
  InputCallbacks parts_;
  std::optional<ApplicationBounds> bounds_;  // none: all bounds are computed anew each time
};

}  // namespace rclrt::analysis::detail
