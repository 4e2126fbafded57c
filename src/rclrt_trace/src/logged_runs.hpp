// SPDX-License-Identifier: Apache-2.0
// The runs of a trace as instances of results.
#pragma once

#include <cstdint>
#include <rclrt/model/executor_choice.hpp>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// Returns for each callback of the application whether others read its newest message.
std::vector<bool> are_sampled(const model::Application& application);

/// Returns a run as an instance. `callback`: of the run, which the model has.
recorder::LoggedInstance logged(const TracedCallback& callback, const TracedModel& model,
                                const TracedInstance& traced);

/// Returns results without instances: application, executor and context. Removes the chains that
/// cannot be followed from the model, with a note for each.
recorder::RunResults begin_results(TracedModel& model, const model::ExecutorChoice& executor,
                                   const ReadCounts& counts, std::vector<std::string>& notes);

}  // namespace rclrt::trace
