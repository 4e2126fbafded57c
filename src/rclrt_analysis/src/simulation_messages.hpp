// SPDX-License-Identifier: Apache-2.0
// Messages of a simulation, and which two of them a synchroniser pairs.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "simulation_processors.hpp"

namespace rclrt::analysis::detail {

struct SimulatedMessage {
  Id publisher = kNone;
  std::int64_t stamp_ns = 0;
  std::int64_t arrival_ns = 0;
  std::vector<SimulatedToken> tokens;
};

/// Pairs as rclrt's SyncBuffer does: a message is paired at once with the waiting message of the
/// other input whose stamp is nearest and within the window; both and what is older are then gone.
class SimulatedSync {
 public:
  using Pair = std::pair<SimulatedMessage, SimulatedMessage>;

  explicit SimulatedSync(const SyncTrigger& trigger) : trigger_(trigger) {}

  std::optional<Pair> add(unsigned input, SimulatedMessage message) {
    std::deque<SimulatedMessage>& own = inputs_[input];
    std::deque<SimulatedMessage>& others = inputs_[1 - input];
    const std::optional<std::size_t> nearest = find(others, message.stamp_ns);
    if (!nearest) {
      if (own.size() == trigger_.depth) {
        own.pop_front();
      }
      own.push_back(std::move(message));
      return std::nullopt;
    }
    own.clear();
    SimulatedMessage partner = std::move(others[*nearest]);
    others.erase(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(*nearest) + 1);
    return input == 0 ? Pair{std::move(message), std::move(partner)}
                      : Pair{std::move(partner), std::move(message)};
  }

 private:
  std::optional<std::size_t> find(const std::deque<SimulatedMessage>& messages,
                                  std::int64_t stamp_ns) const {
    if (trigger_.pairing == SyncTrigger::Pairing::kInOrder) {
      return messages.empty() ? std::nullopt : std::optional<std::size_t>(0);
    }
    std::optional<std::size_t> best;
    std::int64_t best_distance = trigger_.window_ns;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::int64_t distance = std::abs(messages[i].stamp_ns - stamp_ns);
      if (distance < best_distance || (distance == best_distance && !best)) {
        best = i;
        best_distance = distance;
      }
    }
    return best;
  }

  const SyncTrigger& trigger_;
  std::deque<SimulatedMessage> inputs_[2];
};

}  // namespace rclrt::analysis::detail
