// SPDX-License-Identifier: Apache-2.0
// When timers with stated offsets are released around a release of another one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bounds/global_system.hpp"

namespace rclrt::analysis::detail {

/// The knowledge of the time from a release to the next one of another timer, or to one at that
/// very time: it is one of `next`, `next` + `step`, and so on, `count` of them.
struct GlobalPhase {
  Ticks next{};
  Ticks step{};
  Ticks count{1};
};

/// The phases of the timers of a system that state offsets. Keeps a reference.
class GlobalOffsets {
 public:
  /// `most`: how many cases a source may have, at most (1 or more).
  GlobalOffsets(const GlobalSystem& system, Ticks most);

  /// Returns whether at least two timers state their offsets.
  bool any() const { return with_offset_ > 1; }

  /// Returns how many cases to look at: each release of the source's timer is in one of them. 0:
  /// the source is no timer with a stated offset, or no other one states its own.
  Ticks cases(std::size_t source);

  /// Returns, for each source, what is known of its releases after one of this case; nullopt:
  /// nothing. The element of the source itself is nullopt. The reference is valid until the next
  /// call.
  const std::vector<std::optional<GlobalPhase>>& phases(std::size_t source, Ticks number);

 private:
  Ticks period(std::size_t source) const {
    return system_.sources[source].arrivals.front().releases.period;
  }
  Ticks hyperperiod_of(std::size_t source) const;

  const GlobalSystem& system_;
  Ticks most_;
  std::size_t with_offset_ = 0;
  std::vector<std::optional<Ticks>> offsets_;  // of each source
  std::vector<Ticks> hyperperiods_;            // of each source; 0: not computed yet
  std::vector<std::optional<GlobalPhase>> phases_;
};

}  // namespace rclrt::analysis::detail
