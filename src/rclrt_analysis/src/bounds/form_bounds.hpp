// SPDX-License-Identifier: Apache-2.0
// Bounds of an application in the form in which its executors are analysed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// Returns the bounds of these chains, given by their indices. `form` and `kind`: the application
/// and the kind of which the formulas are used, see PreemptiveForm. `chosen`: the executor. Sets
/// `gave_up` if a search for a bound of an executor that runs alone has ended with its steps.
std::vector<ChainBound> bounds_of_form(const model::Application& form, ExecutorKind kind,
                                       const model::ExecutorChoice& chosen,
                                       const Overheads& overheads, Effort effort,
                                       std::span<const std::size_t> chains, bool& gave_up);

/// Throws std::invalid_argument if the chain does not start at a timer or an event.
void check_start(const model::Application& application, const model::Chain& chain);

/// Returns the bound of each callback's queue.
std::vector<QueueBound> queues_of_form(const model::Application& form, ExecutorKind kind,
                                       const model::ExecutorChoice& chosen,
                                       const Overheads& overheads, Effort effort);

}  // namespace rclrt::analysis::detail
