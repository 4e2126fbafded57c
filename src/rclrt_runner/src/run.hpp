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

/// Runs the application and measures it. Executors that name different processes run in processes
/// of their own. Returns all members of RunResults except the application's file; std::nullopt if
/// the run was stopped before its end (Ctrl-C). Call it while the process has only one thread.
/// `arguments` are for ROS. Every failure is thrown.
std::optional<recorder::RunResults> run(const model::Application& application,
                                        const RunOptions& options,
                                        std::span<const char* const> arguments);

}  // namespace rclrt::runner
