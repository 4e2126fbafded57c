// SPDX-License-Identifier: Apache-2.0
// A simulated run in the form of a real one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <rclrt/analysis/simulation_system.hpp>
#include <rclrt/model/application.hpp>

#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/run_stream.hpp"

namespace rclrt::simulator {

struct SimulationSettings {
  model::ExecutorChoice executor;
  std::chrono::nanoseconds duration{};
  std::chrono::nanoseconds warm_up{};  ///< see analysis::SimulationOptions::warm_up_ns
  std::uint64_t seed = 0;
  analysis::SimulatedTimes times;
  unsigned cpus = 1;                                     ///< of an executor that states none
  std::optional<recorder::ReplayedInstance> replayed{};  ///< of the counter-example, if any
  /// If more instances of callbacks are expected, the results are streamed, see RunStream.
  std::uint64_t keep_all = recorder::StreamLimits{}.keep_all;
};

/// Simulates a run and returns results like those of a measured run. Deterministic: equal arguments
/// give equal results. Simulated time starts at 0, which the results show as the start of 1970.
/// Throws std::invalid_argument if the application cannot be simulated or its results cannot be
/// recorded.
recorder::RunResults simulate_run(const model::Application& application,
                                  const SimulationSettings& settings);

}  // namespace rclrt::simulator
