// SPDX-License-Identifier: Apache-2.0
// Makes the results of a run from a trace of any length, in bounded memory.
#pragma once

#include <functional>
#include <rclrt/model/executor_choice.hpp>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// Reads a trace from its begin and passes each event on.
using ReadAgain = std::function<void(const std::function<void(const TraceEvent&)>&)>;

/// Returns the same as trace_results() for a system that streams, and reads the trace a second time
/// with the model known: the instances stream into recorder::RunStream. Lets go of the runs of
/// `system`, which is of one host. The parts of interrupted runs are not kept. Throws TraceError if
/// the trace is not the one that `system` has read.
recorder::RunResults stream_results(TracedSystem& system, TracedModel model,
                                    const model::ExecutorChoice& executor, const ReadCounts& counts,
                                    const ReadAgain& read, std::vector<std::string>& notes);

}  // namespace rclrt::trace
