// SPDX-License-Identifier: Apache-2.0
// The system that a search of schedules simulates.
#pragma once

#include <cstdint>

#include "later_begins.hpp"
#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/simulation_system.hpp"
#include "rclrt/model/application.hpp"
#include "search_trials.hpp"

namespace rclrt::analysis::detail {

/// The system of the last trial: setting up the next one changes only what differs. Keeps
/// references to the application and the search.
class TrialSystem {
 public:
  /// Throws as simulated_system() does.
  TrialSystem(const model::Application& application, const Search& search);

  /// Sets the system up as simulated_system() would with the trial's times.
  const SimulatedSystem& set_up(const Trial& trial);

  /// Returns when trials may begin. `longest_ns`: the longest warm-up.
  LaterBegins begins(std::int64_t longest_ns) const;

  /// Returns whether timers or messages have delays that a trial may choose.
  bool delays_vary() const;

  /// Returns the overheads that are simulated.
  const Overheads& machine() const { return machine_; }

 private:
  SimulatedTimes times_of(const Trial& trial) const;

  const model::Application& application_;
  const Search& search_;
  Overheads machine_;
  Trial last_;
  SimulatedSystem system_;
};

}  // namespace rclrt::analysis::detail
