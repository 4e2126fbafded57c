// SPDX-License-Identifier: Apache-2.0
// Bounds for every callback on a chain's way, not only for its last one.
#pragma once

#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// Returns the application with a chain for every beginning of each of its chains: the first
/// callback, the first two, ..., the whole; in this order, chain by chain, with the chain's
/// priority and deadline, named "<chain>/<number of callbacks>". The bound of one is a bound on the
/// time from the release of the chain's timer to the end of a callback on its way. Priorities stay
/// what they are. Pure.
RCLRT_ANALYSIS_EXPORT model::Application with_steps(model::Application application);

}  // namespace rclrt::analysis
