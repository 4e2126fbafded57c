// SPDX-License-Identifier: Apache-2.0
// Checks that need the whole application.
#pragma once

#include "draft.hpp"
#include "graph.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Reports topics without a publisher, topics with different full names for one text (or different
/// texts for one full name), callbacks that trigger each other in a cycle, and chains that are no
/// path in the graph.
void check_application(const Draft& draft, Context& context);

/// Reports each group of callbacks that trigger each other in a cycle, with one message.
void check_cycles(const Draft& draft, const Graph& graph, Context& context);

}  // namespace rclrt::model::detail
