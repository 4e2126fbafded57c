// SPDX-License-Identifier: Apache-2.0
// Bounds for every callback on a chain's path, not only for its last one.
#pragma once

#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// Returns the application with one chain for each prefix of each of its chains: the first
/// callback, the first two, ..., the whole chain. They are in this order, chain by chain, have the
/// chain's priority and deadline, and are named "<chain>/<number of callbacks>". The bound of a
/// prefix limits the time from the release of the chain's timer to the end of the prefix's last
/// callback. The priorities of callbacks do not change. Pure.
RCLRT_ANALYSIS_EXPORT model::Application with_steps(model::Application application);

}  // namespace rclrt::analysis
