// SPDX-License-Identifier: Apache-2.0
// Conditions of single bounds. Instances that are dropped have no response time, and execution
// times that were observed may be exceeded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Returns how many instances of one input of the callback may be pending before one is dropped.
/// For a timer, it is the default depth of rclrt's TimerOptions, or 1 if releases that come while
/// an earlier one waits are skipped. `skips`: the executor skips them for every timer.
std::size_t queue_depth(const model::Callback& callback, bool skips);

/// Appends the conditions under which no instance of the callback is dropped. `pending` is a bound
/// on the pending instances of one input, kHorizon if there is none.
void assume_no_drops(const model::Callback& callback, Ticks pending, bool skips,
                     std::vector<std::string>& assumptions);

/// Appends the condition that observed execution times are the longest ones, if there are some: by
/// themselves they bound nothing.
void assume_observed_times(const model::Application& application,
                           std::vector<std::string>& assumptions);

/// Returns whether a callback of the chain has another one in its group.
bool shares_a_group(const model::Application& application, const model::Chain& chain);

}  // namespace rclrt::analysis::detail
