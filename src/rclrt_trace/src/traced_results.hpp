// SPDX-License-Identifier: Apache-2.0
// A trace as the results of a run.
#pragma once

#include <rclrt/model/executor_choice.hpp>

#include "rclrt/recorder/results.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// Returns the results of what the trace has seen, from the first run of a callback to its last
/// event. Chains are followed by who published which message; `notes` gets those that cannot be.
/// `executor`: how to order and to blame.
recorder::RunResults trace_results(const TracedSystem& system, TracedModel model,
                                   const model::ExecutorChoice& executor, const ReadCounts& counts,
                                   std::vector<std::string>& notes);

}  // namespace rclrt::trace
