// SPDX-License-Identifier: Apache-2.0
// The share of one process in a run.
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

/// How a process agrees with whoever started the run on its begin and its end.
class Starter {
 public:
  virtual ~Starter() = default;

  /// Called once all threads of the process exist. Returns the epoch of the run, in the future,
  /// CLOCK_MONOTONIC; std::nullopt: it is called off.
  virtual std::optional<std::int64_t> begin() = 0;

  /// Whether the run goes on; asked every 50 ms.
  virtual bool goes_on() = 0;

  /// Takes what the process has measured. Called before the nodes end: Fast DDS may never come back
  /// from that while another process ends, too.
  virtual void finish(Part part) = 0;

  /// Takes the cause where it cannot go on. Called before the nodes end, as `finish`.
  virtual void fail(const std::string& cause) = 0;
};

/// Runs and measures the executors of the application with these indices. Returns false when the
/// context was shut down (Ctrl-C) or the run was called off before the end: nothing was measured
/// then. `arguments` are for ROS. Throws what goes wrong, of which `starter` was told if there were
/// nodes.
bool run_process(const model::Application& application, std::span<const std::size_t> own,
                 const RunOptions& options, std::span<const char* const> arguments,
                 Starter& starter);

}  // namespace rclrt::runner
