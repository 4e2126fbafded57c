// SPDX-License-Identifier: Apache-2.0
// The stamps of messages that come from timers with stated offsets, through synchronisers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {

inline constexpr std::size_t kNoOrigin = static_cast<std::size_t>(-1);

/// Returns the timer, event or sync from which the messages of an input (its publishers) come, if
/// each callback in between has one publisher. Otherwise returns kNoOrigin.
std::size_t origin_of(const Workload& workload, const std::vector<std::size_t>& input);

/// The stamps of messages: offset, offset + period and so on. Message n stems from release n of
/// each of some timers.
struct StampSequence {
  Ticks period{};
  Ticks offset{};
};

/// Returns the stamps of an input's messages, which come from a timer with a stated offset, or from
/// a sync that sequence_of_sets() knows. nullopt: they are not known.
std::optional<StampSequence> sequence_of(const Workload& workload,
                                         const std::vector<std::size_t>& input);

/// Returns the stamps of a sync's sets if set n has message n of each input: all inputs have stamps
/// of one period, with offsets that differ by less than half of it and at most by the window. See
/// find_joins() for the proof. nullopt: sets may have messages of different numbers.
std::optional<StampSequence> sequence_of_sets(const Workload& workload, std::size_t sync);

/// Inputs of a sync that come from timers of one period with stated offsets.
struct InputsOfOnePeriod {
  Ticks period{};
  Ticks spread{};  ///< the largest difference of the offsets, less than the period
};

/// Returns what is known about the inputs of a sync if each comes from a timer with a stated offset
/// and one publisher for each callback on the way, all timers have one period, and their offsets
/// differ by less than that and at most by the window. Otherwise returns nullopt.
std::optional<InputsOfOnePeriod> inputs_of_one_period(const Workload& workload, std::size_t sync);

}  // namespace rclrt::analysis::detail
