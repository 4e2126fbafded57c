// SPDX-License-Identifier: Apache-2.0
// The options of executors in which nothing ever preempts.
#pragma once

#include <stdexcept>

#include "rclrt/executor/options.hpp"

namespace rclrt::executor {

/// Returns the options with Preemption::kNever, and one worker unless they state more. Throws
/// std::invalid_argument where they ask for preemption.
inline ExecutorOptions to_completion(ExecutorOptions options, const char* kind) {
  if (options.preemption == Preemption::kAlways) {
    throw std::invalid_argument("executor \"" + options.name + "\": " + kind +
                                " finishes what it has started: leave Preemption::kAlways out");
  }
  options.preemption = Preemption::kNever;
  if (options.workers_per_level == 0) {
    options.workers_per_level = 1;
  }
  return options;
}

}  // namespace rclrt::executor
