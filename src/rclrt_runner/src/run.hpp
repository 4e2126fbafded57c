// SPDX-License-Identifier: Apache-2.0
// One run of an application under one executor.
#pragma once

#include <chrono>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <span>

#include "rclrt/recorder/results.hpp"

namespace rclrt::runner {

struct RunOptions {
  model::ExecutorChoice executor;
  std::chrono::nanoseconds duration{};
  bool strict = false;
  bool alone = true;  ///< refuse to measure while others publish on the topics
};

/// Runs and measures; returns all of RunResults except for the application's file. Executors that
/// name different processes run in processes of their own. Call it while there is only one thread.
/// Returns std::nullopt if it was stopped before the end (Ctrl-C). `arguments` are for ROS. Throws
/// every failure.
std::optional<recorder::RunResults> run(const model::Application& application,
                                        const RunOptions& options,
                                        std::span<const char* const> arguments);

}  // namespace rclrt::runner
