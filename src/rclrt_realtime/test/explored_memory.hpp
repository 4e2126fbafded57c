// SPDX-License-Identifier: Apache-2.0
// The view that a thread of the explorer has of the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rclrt::test {

inline constexpr std::size_t kMostExploredThreads = 4;

using ExploredClock = std::array<std::uint32_t, kMostExploredThreads>;

/// The view of a thread: the steps of each thread that happen before its next step, and the oldest
/// store of each variable that it may still read.
struct ExploredMemory {
  ExploredClock clock{};
  std::vector<std::size_t> seen;

  std::size_t seen_of(std::size_t variable) const {
    return variable < seen.size() ? seen[variable] : 0;
  }
  void join(const ExploredMemory& other) {
    for (std::size_t i = 0; i < clock.size(); ++i) {
      clock[i] = std::max(clock[i], other.clock[i]);
    }
    seen.resize(std::max(seen.size(), other.seen.size()));
    for (std::size_t i = 0; i < other.seen.size(); ++i) {
      seen[i] = std::max(seen[i], other.seen[i]);
    }
  }
};

struct ExploredStore {
  std::uint64_t value;
  ExploredMemory message;  // the view that an acquire load of it gets
};

struct ExploredOperation {
  std::size_t variable;
  bool writes;
  bool seq_cst;
};

struct ExploredAccesses {
  ExploredClock written{};
  ExploredClock read{};
};

}  // namespace rclrt::test
