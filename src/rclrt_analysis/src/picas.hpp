// SPDX-License-Identifier: Apache-2.0
// Priorities by PiCAS's rules.
#pragma once

#include <vector>

#include "callback_graph.hpp"
#include "rclrt/analysis/synthesis.hpp"

namespace rclrt::analysis::detail {

/// Returns one priority per callback by ChainPriorities::kPicas.
std::vector<SynthesizedPriority> picas_priorities(const model::Application& application,
                                                  const CallbackGraph& graph);

}  // namespace rclrt::analysis::detail
