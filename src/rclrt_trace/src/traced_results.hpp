// SPDX-License-Identifier: Apache-2.0
// Makes the results of a run from a trace.
#pragma once

#include <rclrt/model/executor_choice.hpp>

#include "rclrt/recorder/results.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// Returns the results of the trace, from the first run of a callback to the last event. Chains are
/// followed through the publisher of each message; `notes` gets the chains that cannot be followed.
/// `executor`: the policy by which callbacks are ordered and delays are attributed.
recorder::RunResults trace_results(const TracedSystem& system, TracedModel model,
                                   const model::ExecutorChoice& executor, const ReadCounts& counts,
                                   std::vector<std::string>& notes);

}  // namespace rclrt::trace
