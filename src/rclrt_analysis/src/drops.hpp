// SPDX-License-Identifier: Apache-2.0
// Instances that are lost have no response time: what a bound assumes where they might be.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// How many instances of a callback may be pending before one is lost. A timer's depth is that of
/// rclrt's TimerOptions. `skips`: the executor skips releases of a timer that come while an earlier
/// one waits.
std::size_t queue_depth(const model::Callback& callback, bool skips);

/// Adds what must hold for no instance to be lost when up to `pending` of one input may be pending.
void assume_no_drops(const model::Callback& callback, Ticks pending, bool skips,
                     std::vector<std::string>& assumptions);

}  // namespace rclrt::analysis::detail
