// SPDX-License-Identifier: Apache-2.0
// Times at which the releases of timers with stated offsets come close to each other.
#pragma once

#include <cstdint>

namespace rclrt::analysis::detail {

/// Returns the time modulo the period; never negative.
constexpr std::int64_t phase_of(std::int64_t time_ns, std::int64_t period_ns) {
  return ((time_ns % period_ns) + period_ns) % period_ns;
}

/// A set of times, all at the same distance from the next one, which conditions on the releases of
/// timers make smaller. Timers with the periods T1 and T2 and the offsets O1 and O2 have releases
/// with a distance of d if and only if O2 - O1 - d is a multiple of gcd(T1, T2); these then repeat
/// after lcm(T1, T2) (the Chinese remainder theorem).
class ReleaseTimes {
 public:
  /// Conditions hold up to this time; later ones are refused as far as they need a later one.
  static constexpr std::int64_t kLatest_ns = std::int64_t{365} * 86'400 * 1'000'000'000;

  /// How to change a condition that contradicts the earlier ones.
  enum class Nearest {
    kEither,   ///< to the release that is closest to the wanted time
    kEarlier,  ///< to the last release before it
    kLater,    ///< to the first release after it
  };

  /// Keeps those of the times that have a release of a timer at this distance (negative: before).
  /// If none has one, takes another distance instead; `seed` chooses the time if the distance that
  /// is wanted occurs only after kLatest_ns. `period_ns` is positive.
  void keep(std::int64_t period_ns, std::int64_t offset_ns, std::int64_t distance_ns,
            Nearest nearest, std::uint64_t seed);

  /// Returns the earliest time of the set from `from_ns` on. `from_ns` is at least 0.
  std::int64_t earliest(std::int64_t from_ns) const;

 private:
  void keep_some(std::int64_t period_ns, std::int64_t phase_ns, std::uint64_t seed);

  std::int64_t first_ns_ = 0;
  std::int64_t step_ns_ = 1;
  bool is_full_ = false;  // no more condition fits before kLatest_ns
};

}  // namespace rclrt::analysis::detail
