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
#include "rclrt/recorder/instance_record.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// How a process agrees on begin and end with the code that started the run.
class Starter {
 public:
  virtual ~Starter() = default;

  /// Is called when all threads of the process exist; `state`: what is known before the run.
  /// Returns the epoch of the run: a CLOCK_MONOTONIC time in the future. Returns std::nullopt if
  /// the run is cancelled.
  virtual std::optional<std::int64_t> begin(const Part& state) = 0;

  /// Returns whether the run goes on, and not after SIGINT or SIGTERM; called every 50 ms. The
  /// executors run until then, so that no release of the measured time is lost to the signal.
  virtual bool goes_on() = 0;

  /// Takes instances of the executors while they run. Called by a thread of normal priority; does
  /// not throw.
  virtual void add(std::span<const recorder::LoggedInstance> instances) = 0;

  /// Receives the state at the end, after all instances. Called before the nodes are destroyed,
  /// because that may hang in Fast DDS while another process ends, too.
  virtual void finish(Part state) = 0;

  /// Takes the cause of a failure. Called before the nodes end, as `finish`.
  virtual void fail(const std::string& cause) = 0;
};

/// Runs the executors with the indices `own` in this process, and measures them until the time is
/// over or the starter ends the run. Returns false, without
/// measurements, if that happens before the epoch.
/// `arguments` are for ROS. If the nodes existed, `starter` receives each error before it is
/// thrown.
bool run_process(const model::Application& application, std::span<const std::size_t> own,
                 const RunOptions& options, std::span<const char* const> arguments,
                 Starter& starter);

}  // namespace rclrt::runner
