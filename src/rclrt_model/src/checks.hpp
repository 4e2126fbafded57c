// SPDX-License-Identifier: Apache-2.0
// What can only be judged with the whole application in sight.
#pragma once

#include "draft.hpp"
#include "graph.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Topics nobody publishes, topics that mean something else at run time, cycles, chains that are no
/// paths.
void check_application(const Draft& draft, Context& context);

/// One message for each knot of callbacks that trigger each other in a circle.
void check_cycles(const Draft& draft, const Graph& graph, Context& context);

}  // namespace rclrt::model::detail
