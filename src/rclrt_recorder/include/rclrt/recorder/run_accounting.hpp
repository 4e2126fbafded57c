// SPDX-License-Identifier: Apache-2.0
// How the results of a run, a recording and a simulation come about, in the same way.
#pragma once

#include <cstddef>
#include <optional>
#include <rclrt/model/application.hpp>
#include <string>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Whether the threads of an executor have the priorities that they should have, and why.
struct RealtimeState {
  bool granted = false;
  std::string reason;
  bool runs_to_completion = false;  ///< on workers that all levels share
};

/// Returns the circumstances of a run in this process that has just ended, but for the middleware,
/// the versions and the dropped records, which the caller knows. `steal_before_ms`: what
/// read_steal_ms returned when it began.
RCLRT_RECORDER_EXPORT RunContext read_context(const std::vector<RealtimeState>& executors,
                                              std::optional<double> steal_before_ms);

/// Fills in what follows from the instances and from the application, executor, window, stalls and
/// OS priorities that `results` has: records, display tracks, chains, callbacks, hops, and what
/// explains the worst misses of each chain. Tracks are in the order of executor, most urgent level
/// (where the kind of executor has levels), worker. `cpus`: of an executor that states none.
RCLRT_RECORDER_EXPORT void account(RunResults& results, std::vector<LoggedInstance> instances,
                                   std::size_t cpus);

}  // namespace rclrt::recorder
