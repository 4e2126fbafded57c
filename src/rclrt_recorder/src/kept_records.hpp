// SPDX-License-Identifier: Apache-2.0
// The instances that a run that streams keeps.
#pragma once

#include <span>

#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"
#include "worst_instances.hpp"

namespace rclrt::recorder {

/// Sets records, tracks and misses of `results`: the latest instances of callbacks, those around
/// the worst instances of chains, each once and in the order of their ends, and the explanations.
/// Adds the worst instances to the instances of `results.chains`.
void set_kept(RunResults& results, const WorstInstances& worst,
              std::span<const LoggedInstance> latest);

}  // namespace rclrt::recorder
