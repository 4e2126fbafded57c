// SPDX-License-Identifier: Apache-2.0
// Checks that need the whole application.
#pragma once

#include "draft.hpp"
#include "graph.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Reports topics without a publisher, topics with another name at run time, cycles, and chains
/// that are no paths.
void check_application(const Draft& draft, Context& context);

/// Reports each group of callbacks that trigger each other in a cycle, with one message.
void check_cycles(const Draft& draft, const Graph& graph, Context& context);

}  // namespace rclrt::model::detail
