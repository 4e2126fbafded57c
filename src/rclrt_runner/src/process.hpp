// SPDX-License-Identifier: Apache-2.0
// The part of one process in a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>
#include <string>

#include "part.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// How a process agrees on begin and end with the code that started the run.
class Starter {
 public:
  virtual ~Starter() = default;

  /// Called when all threads of the process exist. Returns the epoch of the run, in the future,
  /// CLOCK_MONOTONIC; std::nullopt if the run is called off.
  virtual std::optional<std::int64_t> begin() = 0;

  /// Returns whether the run goes on; called every 50 ms.
  virtual bool goes_on() = 0;

  /// Takes the measurements of the process. Called before the nodes end: their end may hang in Fast
  /// DDS while another process ends, too.
  virtual void finish(Part part) = 0;

  /// Takes the cause of a failure. Called before the nodes end, as `finish`.
  virtual void fail(const std::string& cause) = 0;
};

/// Runs and measures the executors of the application with these indices. Returns false if the
/// context was shut down (Ctrl-C) or the run was called off before the end: then nothing was
/// measured. `arguments` are for ROS. Throws every failure; if there were nodes, `starter` got it
/// first.
bool run_process(const model::Application& application, std::span<const std::size_t> own,
                 const RunOptions& options, std::span<const char* const> arguments,
                 Starter& starter);

}  // namespace rclrt::runner
