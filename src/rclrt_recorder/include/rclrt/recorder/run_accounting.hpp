// SPDX-License-Identifier: Apache-2.0
// Makes the results of a run, a recording and a simulation, in the same way.
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

/// Whether the threads of an executor have their intended priorities, and why.
struct RealtimeState {
  bool granted = false;
  std::string reason;
  bool runs_to_completion = false;  ///< on workers that all priorities share
};

/// Returns the circumstances of a run in this process that has just ended, except for the
/// middleware, the versions and the dropped records, which the caller knows. `steal_before_ms` is
/// the result of read_steal_ms at the run's begin.
RCLRT_RECORDER_EXPORT RunContext read_context(const std::vector<RealtimeState>& executors,
                                              std::optional<double> steal_before_ms);

/// Fills in the results that follow from the instances and from the members that `results` has:
/// application, executor, window, stalls and kernel priorities. These are records, display tracks,
/// chains, callbacks, hops, and the explanations of the worst misses of each chain. Tracks are in
/// the order of executor, highest priority (if the kind of executor has priorities), worker.
/// `cpus`: of an executor that states none.
RCLRT_RECORDER_EXPORT void account(RunResults& results, std::vector<LoggedInstance> instances,
                                   std::size_t cpus);

}  // namespace rclrt::recorder
