// SPDX-License-Identifier: Apache-2.0
// One run of an application under one executor.
#pragma once

#include <chrono>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/executor_kind.hpp>

#include "rclrt/recorder/results.hpp"

namespace rclrt::runner {

struct RunOptions {
  model::ExecutorKind executor{};
  std::chrono::nanoseconds duration{};
  bool strict = false;
  bool alone = true;  ///< refuse to measure while others publish on the topics
};

/// Runs and measures; all of RunResults but the application's file. Nothing when the context was
/// shut down before the end (Ctrl-C). `argc` and `argv` are for ROS. Throws what goes wrong.
std::optional<recorder::RunResults> run(const model::Application& application,
                                        const RunOptions& options, int argc,
                                        const char* const* argv);

}  // namespace rclrt::runner
