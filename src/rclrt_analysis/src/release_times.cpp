// SPDX-License-Identifier: Apache-2.0
#include "release_times.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "rclrt/analysis/time_distribution.hpp"

namespace rclrt::analysis::detail {
namespace {

__extension__ using Wide = __int128;

/// Returns the number that multiplied by `value` leaves 1 modulo `modulus` (the extended algorithm
/// of Euclid). Both are positive, and have no common divisor.
std::int64_t inverse(std::int64_t value, std::int64_t modulus) {
  std::int64_t left = value % modulus;
  std::int64_t right = modulus;
  std::int64_t factor = 1;
  std::int64_t other = 0;
  while (left != 0) {
    const std::int64_t quotient = right / left;
    right -= quotient * left;
    other -= quotient * factor;
    std::swap(left, right);
    std::swap(factor, other);
  }
  return phase_of(other, modulus);
}

}  // namespace

void ReleaseTimes::keep(std::int64_t period_ns, std::int64_t offset_ns, std::int64_t distance_ns,
                        Nearest nearest, std::uint64_t seed) {
  if (is_full_) {
    return;
  }
  // The release is at t + distance, so t is the offset less the distance modulo the period.
  std::int64_t phase_ns = phase_of(phase_of(offset_ns, period_ns) - distance_ns, period_ns);
  const std::int64_t common_ns = std::gcd(step_ns_, period_ns);
  const std::int64_t apart_ns = phase_of(phase_ns - phase_of(first_ns_, common_ns), common_ns);
  if (apart_ns != 0) {
    // A smaller phase means that the release is later.
    const bool later = nearest == Nearest::kLater ||
                       (nearest == Nearest::kEither && apart_ns <= common_ns - apart_ns);
    phase_ns = phase_of(later ? phase_ns - apart_ns : phase_ns + common_ns - apart_ns, period_ns);
  }
  const std::int64_t parts = period_ns / common_ns;
  const Wide step_ns = Wide{step_ns_} * parts;
  if (step_ns > kLatest_ns) {
    keep_some(period_ns, phase_ns, seed);
    return;
  }
  const std::int64_t missing = phase_of(phase_ns - phase_of(first_ns_, period_ns), period_ns);
  const auto steps = static_cast<std::int64_t>(Wide{missing / common_ns} *
                                               inverse(step_ns_ / common_ns, parts) % parts);
  first_ns_ += step_ns_ * steps;
  step_ns_ = static_cast<std::int64_t>(step_ns);
}

/// Keeps one of the times: of some that `seed` draws, the one with the closest phase.
void ReleaseTimes::keep_some(std::int64_t period_ns, std::int64_t phase_ns, std::uint64_t seed) {
  constexpr int kDraws = 32;
  SimulationRandom random(seed);
  const std::int64_t most = (kLatest_ns - std::min(first_ns_, kLatest_ns)) / step_ns_;
  std::optional<std::int64_t> best_ns;
  std::int64_t closest_ns = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t time_ns = first_ns_ + step_ns_ * random.uniform(0, most);
    const std::int64_t apart_ns = phase_of(time_ns - phase_ns, period_ns);
    const std::int64_t distance_ns = std::min(apart_ns, period_ns - apart_ns);
    if (!best_ns || distance_ns < closest_ns) {
      best_ns = time_ns;
      closest_ns = distance_ns;
    }
  }
  first_ns_ = *best_ns;
  is_full_ = true;
}

std::int64_t ReleaseTimes::earliest(std::int64_t from_ns) const {
  if (first_ns_ >= from_ns) {
    return first_ns_;
  }
  const std::int64_t steps = (from_ns - first_ns_ - 1) / step_ns_ + 1;
  return first_ns_ + steps * step_ns_;
}

}  // namespace rclrt::analysis::detail
