// SPDX-License-Identifier: Apache-2.0
// Instances that are dropped have no response time: the assumptions of a bound if drops are
// possible.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Returns the number of instances of a callback that may be pending before one is dropped. A
/// timer's depth is that of rclrt's TimerOptions. `skips`: the executor skips releases of a timer
/// that come while an earlier one waits.
std::size_t queue_depth(const model::Callback& callback, bool skips);

/// Adds the conditions under which no instance is dropped, if up to `pending` of one input may be
/// pending.
void assume_no_drops(const model::Callback& callback, Ticks pending, bool skips,
                     std::vector<std::string>& assumptions);

}  // namespace rclrt::analysis::detail
