// SPDX-License-Identifier: Apache-2.0
// The deadline of a chain that has none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "rclrt/model/application.hpp"

namespace rclrt::model {

/// The largest deadline that a file can state. A segment of a cause-effect chain has it if the file
/// does not state the segment as a chain. A late value may be replaced before it is read, so the
/// limits of the whole are none of a segment.
inline constexpr std::chrono::nanoseconds kNoDeadline = std::chrono::hours(1);

/// Returns whether the chain has a deadline to keep: it is no segment, or the file states one.
inline bool has_deadline(const Application& application, std::size_t chain) {
  return application.chains[chain].deadline < kNoDeadline ||
         std::ranges::none_of(
             application.cause_effect_chains,
             [&](const CauseEffectChain& whole) {
               return std::ranges::find(whole.segments, chain, &Segment::chain) !=
                      whole.segments.end();
             });
}

}  // namespace rclrt::model
