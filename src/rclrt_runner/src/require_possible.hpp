// SPDX-License-Identifier: Apache-2.0
// Checks whether this machine can run its part of an application.
#pragma once

#include <cstddef>
#include <rclrt/model/application.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <vector>

namespace rclrt::runner {

/// Throws std::invalid_argument if the application or the choice names a priority, a trigger's
/// callback or a workload that does not exist, or these executors of it a CPU that this machine
/// does not have.
void require_possible(const model::Application& application,
                      const std::vector<std::vector<std::size_t>>& executors,
                      const model::ExecutorChoice& choice);

}  // namespace rclrt::runner
