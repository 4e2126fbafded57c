// SPDX-License-Identifier: Apache-2.0
#include "bounds/global_offsets.hpp"

#include <algorithm>
#include <numeric>

namespace rclrt::analysis::detail {
namespace {

/// The most times of a next release that are looked at, where a phase is known only in part.
constexpr Ticks kMostPhases = 8;

}  // namespace

GlobalOffsets::GlobalOffsets(const GlobalSystem& system, Ticks most)
    : system_(system), most_(most), hyperperiods_(system.sources.size()) {
  for (const GlobalSource& source : system.sources) {
    offsets_.push_back(stated_offset(system.workload.application.callbacks[source.callback]));
    with_offset_ += offsets_.back() ? 1 : 0;
  }
}

/// Returns a multiple of the period of the source with at most `most_` of its releases. It has many
/// periods of the other timers as divisors: those that lengthen it the least are first.
Ticks GlobalOffsets::hyperperiod_of(std::size_t source) const {
  std::vector<Ticks> open;
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    if (offsets_[i] && i != source) {
      open.push_back(period(i));
    }
  }
  Ticks result = period(source);
  while (!open.empty()) {
    const auto factor = [&](Ticks other) { return other / std::gcd(result, other); };
    const auto best = std::ranges::min_element(open, {}, factor);
    const Ticks all = product(result, factor(*best));
    if (all / period(source) > most_) {
      break;
    }
    result = all;
    std::erase_if(open, [&](Ticks other) { return result % other == 0; });
  }
  return result;
}

Ticks GlobalOffsets::cases(std::size_t source) {
  if (!offsets_[source] || !any()) {
    return 0;
  }
  if (hyperperiods_[source] == 0) {
    hyperperiods_[source] = hyperperiod_of(source);
  }
  return hyperperiods_[source] / period(source);
}

const std::vector<std::optional<GlobalPhase>>& GlobalOffsets::phases(std::size_t source,
                                                                     Ticks number) {
  phases_.assign(offsets_.size(), std::nullopt);
  const Ticks hyperperiod = product(cases(source), period(source));
  const Ticks release = *offsets_[source] + (number * period(source));
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    if (!offsets_[i] || i == source) {
      continue;
    }
    const Ticks known = std::gcd(period(i), hyperperiod);
    const Ticks count = period(i) / known;
    if (count <= kMostPhases) {
      phases_[i] = {from_release_to(release, *offsets_[i], known), known, count};
    }
  }
  return phases_;
}

}  // namespace rclrt::analysis::detail
