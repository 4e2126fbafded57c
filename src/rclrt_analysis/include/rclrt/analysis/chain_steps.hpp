// SPDX-License-Identifier: Apache-2.0
// Bounds for every callback on a chain's path, not only for its last one.
#pragma once

#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// Returns the application with its chains replaced by their prefixes: for each chain its first
/// callback, its first two, ..., the whole chain, in this order, chain by chain. A prefix has the
/// priority and deadline of its chain and the id "<chain>/<number of callbacks>". So the bound of a
/// prefix is for the time from the release of the chain's timer to the end of the prefix's last
/// callback. The priorities of callbacks do not change. The segments of cause-effect chains are
/// then the prefixes that are whole chains. Pure.
RCLRT_ANALYSIS_EXPORT model::Application with_steps(model::Application application);

}  // namespace rclrt::analysis
