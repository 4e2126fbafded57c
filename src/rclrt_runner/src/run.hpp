// SPDX-License-Identifier: Apache-2.0
// One run of an application under one executor.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <rclrt/model/executor_choice.hpp>
#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/run_stream.hpp"
#include "run_time.hpp"

namespace rclrt::runner {

class StopRequests;

/// The connection to the agent on another host.
struct HostConnection {
  std::string host;  ///< its name in the application
  int file = -1;     ///< a socket
};

struct RunOptions {
  model::ExecutorChoice executor;
  std::chrono::nanoseconds duration{};
  bool strict = false;
  bool alone = true;                    ///< refuse to measure while others publish on the topics
  RunTime time{};                       ///< of the run, on this host
  std::vector<HostConnection> hosts{};  ///< other hosts
  std::size_t keep_all = recorder::StreamLimits{}.keep_all;  ///< instances; more: the run streams
  /// Writes results before the end, if the run is long; must not throw. Called by another thread.
  std::function<void(const recorder::RunResults&)> write{};
};

/// Runs the application in `results` and measures it. Executors that name different processes run
/// in processes of their own. Sets all members of `results` except the application and its file,
/// which the caller sets before. Returns false, without results, if the run was stopped before it
/// began (Ctrl-C). If it is stopped later, the results are those of the time until then. Call it
/// while the process has only one thread. `arguments` are for ROS. `requests` stop the run.
/// Executors of other hosts run there. If a host is lost, the run ends, `results` has what was
/// measured before, and RunResults::hosts names it. Every other failure is thrown.
bool run(recorder::RunResults& results, const RunOptions& options,
         std::span<const char* const> arguments, StopRequests& requests);

}  // namespace rclrt::runner
