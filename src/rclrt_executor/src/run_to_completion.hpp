// SPDX-License-Identifier: Apache-2.0
// The options of executors without preemption.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "rclrt/executor/options.hpp"

namespace rclrt::executor {

/// Returns a copy of `options` with Preemption::kNever, and with one worker unless they state
/// another number. Throws std::invalid_argument if they ask for Preemption::kAlways. `kind` is the
/// name of the executor in the message.
inline ExecutorOptions to_completion(ExecutorOptions options, const char* kind) {
  if (options.preemption == Preemption::kAlways) {
    throw std::invalid_argument(
        "executor \"" + options.name + "\": " + kind +
        " does not preempt a running callback; leave out Preemption::kAlways");
  }
  options.preemption = Preemption::kNever;
  if (options.workers_per_level == 0) {
    options.workers_per_level = 1;
  }
  return options;
}

/// Returns the same as `to_completion`, for executors of one thread. Also throws
/// std::invalid_argument if the options ask for more than one worker.
inline ExecutorOptions on_one_thread(ExecutorOptions options, const char* kind) {
  if (options.workers_per_level > 1) {
    throw std::invalid_argument(
        "executor \"" + options.name + "\": " + kind + " has one thread, not " +
        std::to_string(options.workers_per_level) + ": leave workers_per_level out");
  }
  return to_completion(std::move(options), kind);
}

}  // namespace rclrt::executor
