// SPDX-License-Identifier: Apache-2.0
// Makes the results of a run from a trace.
#pragma once

#include <rclrt/model/executor_choice.hpp>

#include "rclrt/recorder/results.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// Returns the results of the traced run, which lasts from the first run of a callback to the last
/// event. Chains are followed from each message to its publisher; chains for which this is not
/// possible are listed in `notes`. `executor` is the kind of executor that decides the order of
/// callbacks and the causes of delays. `clocks`: of traces of several hosts; nullptr: of one host.
recorder::RunResults trace_results(const TracedSystem& system, TracedModel model,
                                   const model::ExecutorChoice& executor, const ReadCounts& counts,
                                   std::vector<std::string>& notes,
                                   const HostClocks* clocks = nullptr);

}  // namespace rclrt::trace
