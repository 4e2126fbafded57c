// SPDX-License-Identifier: Apache-2.0
// The numbers of the releases of a timer of which nothing is known in advance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <rclrt/model/application.hpp>

#include "rclrt/recorder/chain_accounting.hpp"

namespace rclrt::recorder {

/// The largest distance of a release from its timer's grid.
inline constexpr std::int64_t kGridError_ns = 1'000;
/// Used to find timers that had stopped before the end of the recording: those with a last release
/// that is more than this time and two periods before the end.
inline constexpr std::int64_t kStopped_ns = 100'000'000;

/// Returns the number of periods from the first release, rounded to the nearest.
inline std::int64_t release_steps(std::int64_t release_ns, std::int64_t first_ns,
                                  std::int64_t period_ns) {
  return (release_ns - first_ns + period_ns / 2) / period_ns;
}

/// Sets the offset and the overrun of a timer. `on_grid`: whether its releases are whole periods
/// after the first one.
inline void set_releases(model::Timer& timer, const RunWindow& window,
                         std::optional<std::int64_t> first_ns, std::int64_t last_ns, bool on_grid,
                         bool going_on) {
  if (first_ns) {
    timer.offset = model::Nanoseconds(*first_ns - window.start_ns);
  }
  const std::int64_t since_ns = first_ns ? last_ns : window.start_ns;
  const bool stopped = !going_on && (!first_ns || (window.end_ns - since_ns - kStopped_ns) / 2 >
                                                      timer.period.count());
  timer.overrun = stopped || (first_ns && !on_grid) ? model::OverrunPolicy::kRebase
                                                    : model::OverrunPolicy::kCatchUp;
}

/// Counts the releases of a timer as they come. A release that is on the grid of those before it
/// has the number of its place there, so a number that is left out is a release without a run. A
/// release off the grid has the next number, and begins another grid: the timer was reset, or its
/// clock is not CLOCK_MONOTONIC.
class FoundReleases {
 public:
  /// Returns std::nullopt for a release before the first one, or one that comes too late to count.
  std::optional<std::uint64_t> number(std::int64_t release_ns, std::int64_t period_ns) {
    if (!first_ns_) {
      first_ns_ = grid_ns_ = last_ns_ = release_ns;
      return 0;
    }
    if (release_ns < *first_ns_) {
      return std::nullopt;
    }
    // With a period below 2 us every release would count as on the grid, and most points of the
    // grid have no release.
    if (period_ns > 2 * kGridError_ns && release_ns >= grid_ns_) {
      const std::int64_t steps = release_steps(release_ns, grid_ns_, period_ns);
      if (std::abs(release_ns - grid_ns_ - steps * period_ns) <= kGridError_ns) {
        const std::uint64_t result = grid_number_ + static_cast<std::uint64_t>(steps);
        last_ns_ = std::max(last_ns_, release_ns);
        last_number_ = std::max(last_number_, result);
        return result;
      }
    }
    if (release_ns < last_ns_) {
      return std::nullopt;
    }
    on_grid_ = false;
    grid_ns_ = last_ns_ = release_ns;
    grid_number_ = ++last_number_;
    return grid_number_;
  }

  void set(model::Timer& timer, const RunWindow& window, bool going_on) const {
    set_releases(timer, window, first_ns_, last_ns_, on_grid_, going_on);
  }

 private:
  std::optional<std::int64_t> first_ns_;
  std::int64_t grid_ns_ = 0;  // the release with which the present grid began
  std::int64_t last_ns_ = 0;
  std::uint64_t grid_number_ = 0;
  std::uint64_t last_number_ = 0;
  bool on_grid_ = true;
};

}  // namespace rclrt::recorder
