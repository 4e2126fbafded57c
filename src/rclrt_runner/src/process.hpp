// SPDX-License-Identifier: Apache-2.0
// The share of one process in a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>

#include "part.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// How a process agrees with whoever started the run on its begin and its end.
class Starter {
 public:
  virtual ~Starter() = default;

  /// Called once all threads of the process exist. Returns the epoch of the run, in the future,
  /// CLOCK_MONOTONIC; std::nullopt: it is called off.
  virtual std::optional<std::int64_t> begin() = 0;

  /// Whether the run goes on; asked every 50 ms.
  virtual bool goes_on() = 0;
};

/// Runs and measures the executors of the application with these indices. Returns std::nullopt when
/// the context was shut down (Ctrl-C) or the run was called off before the end. `arguments` are for
/// ROS. Throws what goes wrong.
std::optional<Part> run_process(const model::Application& application,
                                std::span<const std::size_t> own, const RunOptions& options,
                                std::span<const char* const> arguments, Starter& starter);

}  // namespace rclrt::runner
