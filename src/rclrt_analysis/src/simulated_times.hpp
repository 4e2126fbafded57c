// SPDX-License-Identifier: Apache-2.0
// Execution times and delays of a simulated application.
#pragma once

#include "rclrt/analysis/simulation_system.hpp"

namespace rclrt::analysis::detail {

/// Uniform from this share of the callback's WCET up to the WCET.
TimeDistribution execution_times(const model::Callback& callback, double lowest_execution);

/// When a simulation has the first release of a timer or event whose offset nobody chooses.
std::int64_t stated_offset_ns(const model::Callback& callback);

/// The event when it comes as often as it may, from this offset on.
model::Event densest(model::Event event, std::int64_t offset_ns);

/// The lateness of the timers and events and the latencies of the messages, in the place of what
/// was there.
void set_delays(SimulatedSystem& system, const SimulatedTimes& times);

}  // namespace rclrt::analysis::detail
