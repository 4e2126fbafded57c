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

/// Returns the circumstances of a run that has just ended in this process. The caller sets the
/// middleware, the versions and the number of dropped records. `steal_before_ms` is the result of
/// read_steal_ms at the begin of the run.
RCLRT_RECORDER_EXPORT RunContext read_context(const std::vector<RealtimeState>& executors,
                                              std::optional<double> steal_before_ms);

/// Computes the results of a run from its instances, and from the members that `results` must have
/// already: application, executor, window, stalls and kernel priorities. Sets the records, the
/// tracks for display, the results of chains, callbacks and hops, and the explanations of the worst
/// misses of each chain. The tracks are sorted by executor, then by priority (the highest first, if
/// the kind of executor has priorities), then by worker. `cpus` is the number of CPUs of an
/// executor that states none.
RCLRT_RECORDER_EXPORT void account(RunResults& results, std::vector<LoggedInstance> instances,
                                   std::size_t cpus);

}  // namespace rclrt::recorder
