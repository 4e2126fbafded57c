// SPDX-License-Identifier: Apache-2.0
// The options of executors without preemption.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "rclrt/executor/options.hpp"

namespace rclrt::executor {

/// Returns the options with Preemption::kNever, and one worker unless they state more. Throws
/// std::invalid_argument if they ask for preemption.
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

/// Returns the same for executors of one thread. Throws std::invalid_argument, too, if they ask for
/// more workers.
inline ExecutorOptions on_one_thread(ExecutorOptions options, const char* kind) {
  if (options.workers_per_level > 1) {
    throw std::invalid_argument(
        "executor \"" + options.name + "\": " + kind + " has one thread, not " +
        std::to_string(options.workers_per_level) + ": leave workers_per_level out");
  }
  return to_completion(std::move(options), kind);
}

}  // namespace rclrt::executor
