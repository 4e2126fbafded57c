// SPDX-License-Identifier: Apache-2.0
// Chooses the callbacks that published on a topic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "clock_error.hpp"

namespace rclrt::recorder {

/// One in this number of messages is a coincidence.
inline constexpr std::size_t kCoincidence = 50;

/// Returns the callbacks that published the `messages` messages on a topic; none if they do not
/// explain all of them. `covers(message, callback, error_ns)`: whether the callback was running
/// when the message was published. `busy(callback)`: how long it ran, or a measure of that.
template <typename Covers, typename Busy>
std::vector<std::size_t> choose_publishers(std::size_t messages,
                                           const std::vector<std::size_t>& candidates,
                                           const Covers& covers, const Busy& busy) {
  /// A constructor may publish one, and a callback that still runs at the end another one.
  constexpr std::size_t kAtEnds = 2;
  const std::size_t least = std::max<std::size_t>(
      1, messages / kCoincidence / std::max<std::size_t>(1, candidates.size()));
  std::vector<std::size_t> rest(messages);
  std::iota(rest.begin(), rest.end(), std::size_t{0});
  std::vector<std::size_t> result;
  while (!rest.empty()) {
    std::size_t most = 0;
    std::vector<std::size_t> counts;
    for (const std::size_t each : candidates) {
      counts.push_back(static_cast<std::size_t>(std::ranges::count_if(
          rest, [&](std::size_t message) { return covers(message, each, 0); })));
      most = std::max(most, counts.back());
    }
    if (most < least) {
      break;
    }
    // Among those that ran at about as many publications, the one that ran least.
    std::size_t best = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (counts[i] + counts[i] / kCoincidence >= most &&
          (best == candidates.size() || busy(candidates[i]) < busy(candidates[best]))) {
        best = i;
      }
    }
    result.push_back(candidates[best]);
    std::erase_if(rest, [&](std::size_t message) {
      return covers(message, candidates[best], kClockError_ns);
    });
  }
  // If many messages remain, a thread outside of callbacks publishes on the topic. Then no callback
  // is returned, and a subscription to the topic becomes an event: the rate of the callbacks alone
  // would be too low for it. The callbacks that were found may also be coincidences.
  return rest.size() > std::max(kAtEnds, messages / kCoincidence) ? std::vector<std::size_t>()
                                                                  : result;
}

}  // namespace rclrt::recorder
