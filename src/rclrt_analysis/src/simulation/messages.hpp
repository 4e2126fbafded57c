// SPDX-License-Identifier: Apache-2.0
// Messages of a simulation, and how a synchroniser matches them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/processors.hpp"

namespace rclrt::analysis::detail {

struct SimulatedMessage {
  Id publisher = kNone;
  std::int64_t stamp_ns = 0;
  std::int64_t arrival_ns = 0;
  std::vector<SimulatedToken> tokens;
};

/// Matches the messages of a sync as rclrt's SyncBuffer does. A set has one message of each input,
/// with stamps within the window; it is formed at once, as the one with the closest stamps of all
/// possible ones. Its messages and all older ones are then removed.
class SimulatedSync {
 public:
  using Set = std::vector<SimulatedMessage>;  // in the order of the inputs

  explicit SimulatedSync(const SyncTrigger& trigger)
      : trigger_(trigger), inputs_(trigger.inputs), chosen_(trigger.inputs) {}

  /// Adds a message. Returns the set that it completes, or an empty set.
  Set add(unsigned input, SimulatedMessage message) {
    std::deque<SimulatedMessage>& own = inputs_[input];
    if (own.size() == trigger_.depth) {
      own.pop_front();
    }
    own.push_back(std::move(message));
    Set set;
    if (!choose(input)) {
      return set;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto chosen = inputs_[i].begin() + static_cast<std::ptrdiff_t>(chosen_[i]);
      set.push_back(std::move(*chosen));
      inputs_[i].erase(inputs_[i].begin(), chosen + 1);
    }
    return set;
  }

  /// Returns the stamps of the messages of each input that a message with a stamp from
  /// `earliest_ns` on can still match, oldest first.
  std::vector<std::vector<std::int64_t>> stamps(std::int64_t earliest_ns) const {
    std::vector<std::vector<std::int64_t>> result(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (const SimulatedMessage& message : inputs_[i]) {
        if (trigger_.pairing == SyncTrigger::Pairing::kInOrder ||
            message.stamp_ns >= earliest_ns - trigger_.window_ns) {
          result[i].push_back(message.stamp_ns);
        }
      }
    }
    return result;
  }

 private:
  /// Searches for a set with the newest message of `input`. Returns whether there is one; `chosen_`
  /// then has the index of each input's message.
  bool choose(unsigned input) {
    if (std::ranges::any_of(inputs_, [](const auto& each) { return each.empty(); })) {
      return false;
    }
    if (trigger_.pairing == SyncTrigger::Pairing::kInOrder) {
      std::ranges::fill(chosen_, std::size_t{0});
      return true;
    }
    const std::int64_t newest_ns = inputs_[input].back().stamp_ns;
    std::vector<std::size_t> candidate(inputs_.size());
    std::int64_t best_ns = trigger_.window_ns;
    std::int64_t best_from_ns = newest_ns + 1;
    bool found = false;
    // Any waiting message may be the earliest of the set. For each of them, the other inputs
    // contribute their first message that is not earlier.
    for (const std::deque<SimulatedMessage>& messages : inputs_) {
      for (const SimulatedMessage& from : messages) {
        if (from.stamp_ns > newest_ns || from.stamp_ns < newest_ns - trigger_.window_ns) {
          continue;
        }
        const auto to_ns = last_of(input, from.stamp_ns, candidate);
        if (!to_ns) {
          continue;
        }
        const std::int64_t length_ns = *to_ns - from.stamp_ns;
        if (length_ns < best_ns ||
            (length_ns == best_ns && (!found || from.stamp_ns < best_from_ns))) {
          found = true;
          best_ns = length_ns;
          best_from_ns = from.stamp_ns;
          chosen_ = candidate;
        }
      }
    }
    return found;
  }

  /// Returns the latest stamp of a set that begins at a time, with the newest message of `input`.
  std::optional<std::int64_t> last_of(unsigned input, std::int64_t from_ns,
                                      std::vector<std::size_t>& candidate) const {
    std::int64_t to_ns = inputs_[input].back().stamp_ns;
    for (unsigned i = 0; i < inputs_.size(); ++i) {
      const auto& messages = inputs_[i];
      std::size_t n = i == input ? messages.size() - 1 : 0;
      while (n < messages.size() && messages[n].stamp_ns < from_ns) {
        ++n;
      }
      if (n == messages.size()) {
        return std::nullopt;
      }
      candidate[i] = n;
      to_ns = std::max(to_ns, messages[n].stamp_ns);
    }
    return to_ns;
  }

  const SyncTrigger& trigger_;
  std::vector<std::deque<SimulatedMessage>> inputs_;
  std::vector<std::size_t> chosen_;  // for each input, the index of the chosen message
};

}  // namespace rclrt::analysis::detail
