// SPDX-License-Identifier: Apache-2.0
// Reaction times and data ages of a simulation.
#pragma once

#include <cstddef>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/cause_effect_times.hpp"

namespace rclrt::analysis {

/// Adds the runs of a simulated instance, one for each chain instance that it worked for, if its
/// callback ran. Returns in how many segments they are. For SimulationObserver::ended(). Not
/// thread-safe, as CauseEffectTimes.
RCLRT_ANALYSIS_EXPORT std::size_t add_runs(const SimulatedInstance& instance,
                                           model::CauseEffectTimes& times);

}  // namespace rclrt::analysis
