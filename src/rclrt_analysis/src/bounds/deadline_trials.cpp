// SPDX-License-Identifier: Apache-2.0
#include "bounds/deadline_trials.hpp"

#include <algorithm>
#include <array>
#include <rclrt/model/no_deadline.hpp>

#include "bounds/chosen_chains.hpp"
#include "bounds/form_bounds.hpp"
#include "bounds/placements.hpp"
#include "bounds/separate_lanes.hpp"
#include "quality.hpp"

namespace rclrt::analysis::detail {

DeadlineTrials::DeadlineTrials(const model::Application& application,
                               const model::ExecutorChoice& executor, const Overheads& overheads,
                               Effort effort)
    : application_(application),
      executor_(executor),
      overheads_(overheads),
      effort_(effort),
      form_(application, executor),
      parts_(form_.application()) {
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    check_start(application, application.chains[i]);
    if (model::has_deadline(application, i)) {
      order_.push_back(i);
    }
  }
  const bool several_threads = traits(executor).runs_sets && executor.threads > 1;
  if (!several_threads && application.hosts.empty() &&
      !with_separate_lanes(form_.application(), executor) &&
      placements(application, executor, overheads).empty()) {
    bounds_.emplace(parts_.application(), form_.kind(), executor, overheads, effort);
  }
}

void DeadlineTrials::times_changed() {
  form_.copy_times();
  parts_.copy_times();
  if (bounds_) {
    bounds_->times_changed();
  }
}

Ticks DeadlineTrials::response(std::size_t chain, Ticks limit, Look look) {
  if (bounds_) {
    return bounds_->response_within(parts_.application().chains[chain], limit, look);
  }
  bool gave_up = false;
  const std::array only{chain};
  return bounds_of_chains(application_, executor_, overheads_, effort_, only, gave_up)
      .front()
      .bound.value_or(kHorizon);
}

Ticks DeadlineTrials::room(std::size_t chain, Look look) {
  if (chain == application_.chains.size()) {
    return limits_hold() ? 0 : -kHorizon;
  }
  const Ticks deadline = application_.chains[chain].deadline.count();
  return deadline - response(chain, deadline, look);
}

std::optional<std::size_t> DeadlineTrials::first_missed(Look look) {
  for (auto at = order_.begin(); at != order_.end(); ++at) {
    if (room(*at, look) < 0) {
      const std::size_t missed = *at;
      std::rotate(order_.begin(), at, at + 1);
      return missed;
    }
  }
  return limits_hold() ? std::nullopt : std::optional(application_.chains.size());
}

/// Returns whether the limits of all chains that sample are proved.
bool DeadlineTrials::limits_hold() const {
  return application_.cause_effect_chains.empty() ||
         quality(application_, executor_, overheads_, effort_).not_proved == 0;
}

}  // namespace rclrt::analysis::detail
