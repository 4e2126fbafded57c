// SPDX-License-Identifier: Apache-2.0
// Whether the schedules of a search may begin later than the application does.
//
// Timers with stated offsets have each combination of phases only at some times, perhaps hours
// after the start. A schedule that begins at a time B in place of 0 is one of the application if
// the application can be in the same state at B. It can: a callback may take any time up to its
// WCET, so all callbacks before B may take none. Then nothing runs or waits at B. Only messages
// remain of the time before B: those on their way, and those that synchronisers keep. They are the
// same as in a schedule that begins at B with a warm-up, in which callbacks take no time either, if
// * each message that is published before B has arrived before the end of the warm-up, and
// * each synchroniser is in the same state. Its sources repeat after the least common multiple of
//   their periods. If B is a multiple of that, and the state after n multiples from the start is
//   the same as after n + 1 (thus, after any larger number), it is the state at the end of a
//   warm-up of n multiples.
// docs/explanation/counter-examples.md has the whole argument.
#pragma once

#include <cstdint>
#include <span>

#include "rclrt/analysis/simulation_system.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

struct LaterBegins {
  bool possible = false;
  std::int64_t grid_ns = 1;     ///< begins are multiples of it
  std::int64_t warm_up_ns = 0;  ///< SimulationOptions::warm_up_ns of schedules that begin later

  /// Returns the last time on the grid up to this one, or 0.
  std::int64_t begin_before(std::int64_t time_ns) const {
    return time_ns <= 0 ? 0 : time_ns / grid_ns * grid_ns;
  }
};

/// Returns when the schedules of an application may begin. They may not begin later
/// * if no timer has a stated offset, because any phases are then possible at the start,
/// * over several hosts: there may always be a message on a link,
/// * under an executor that waits for a certain callback, or for all of them,
/// * behind synchronisers with other sources than timers with stated offsets below their periods,
/// or
///   with a state that has not repeated after a warm-up of at most `longest_ns`.
/// `delays`: the delays that schedules may have; see SimulatedTimes.
LaterBegins later_begins(const model::Application& application,
                         const model::ExecutorChoice& executor, SimulatedSystem system,
                         std::span<const SimulatedTimes> delays, std::int64_t longest_ns);

/// Returns the offset of the first release from `begin_ns` on, relative to that time, of a timer
/// that has its first release at `offset_ns`.
std::int64_t offset_from(std::int64_t begin_ns, std::int64_t offset_ns, std::int64_t period_ns);

}  // namespace rclrt::analysis::detail
