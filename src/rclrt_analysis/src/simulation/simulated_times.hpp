// SPDX-License-Identifier: Apache-2.0
// Execution times and delays of a simulated application.
#pragma once

#include <cstdint>
#include <vector>

#include "rclrt/analysis/simulation_system.hpp"

namespace rclrt::analysis::detail {

/// Sets the execution time of a callback, and for how long and where it waits; see
/// SimulatedTimes::lowest_execution and SimulatedTimes::extremes.
void set_run(SimulatedCallback& simulated, const model::Callback& callback, double lowest_execution,
             bool extremes);

/// Returns the offset of a timer or event in ns, as the application states it. 0 if it states none,
/// and for callbacks that take messages.
std::int64_t stated_offset_ns(const model::Callback& callback);

/// Returns the event with the highest rate that it may have, from this offset on.
model::Event densest(model::Event event, std::int64_t offset_ns);

/// Returns the event with draws of only its shortest and longest intervals, or its least and
/// greatest lateness, from this offset on.
model::Event at_extremes(model::Event event, std::int64_t offset_ns, std::uint64_t seed);

/// Returns SimulationEngine::messages_at_end() after a warm-up of this length.
std::vector<std::int64_t> messages_after(const SimulatedSystem& system, std::int64_t warm_up_ns);

/// Replaces the lateness of timers and events and the latencies of messages.
void set_delays(SimulatedSystem& system, const SimulatedTimes& times);

}  // namespace rclrt::analysis::detail
