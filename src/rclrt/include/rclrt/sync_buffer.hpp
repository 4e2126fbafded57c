// SPDX-License-Identifier: Apache-2.0
// Buffers for messages of several topics that form sets. Pure: no ROS, no clock, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "rclrt/detail/sync_matcher.hpp"

namespace rclrt {

/// Decides which messages form a set.
enum class SyncPolicy {
  kExact,        ///< equal stamps
  kApproximate,  ///< the nearest stamps, at most a window apart
};

/// Forms sets of messages, one of each input, as they arrive. When a message arrives, it forms a
/// set at once with the waiting messages that have the closest stamps: all within the window, or
/// equal. The messages of the set and all older messages of each input are then removed. So each
/// message is in at most one set, and sets are in order at every input. Unlike message_filters'
/// approximate policy it never waits for a better match. That adds no delay, and for inputs of
/// equal rate it finds the same sets. Messages are swapped into storage that was allocated at
/// construction.
template <typename... Ts>
class SyncBuffer {
 public:
  /// Makes a buffer in which `depth` messages of each input may wait.
  SyncBuffer(std::size_t depth, SyncPolicy policy, std::int64_t window_ns)
      : matcher_(sizeof...(Ts), depth, policy == SyncPolicy::kExact ? 0 : window_ns),
        slots_(std::vector<Ts>(depth)...) {}

  /// Adds a message to input `I`. Returns true if that completed a set: see `get`, then `consume`.
  template <std::size_t I>
  bool add(std::tuple_element_t<I, std::tuple<Ts...>>& message, std::int64_t stamp_ns) {
    std::swap(std::get<I>(slots_)[matcher_.add(I, stamp_ns)], message);
    return matcher_.match(I);
  }

  /// Returns the set's message of input `I`.
  template <std::size_t I>
  const auto& get() const {
    return std::get<I>(slots_)[matcher_.slot(I)];
  }

  /// Removes the set and everything older.
  void consume() { matcher_.consume(); }

  /// Returns how many messages were dropped without ever being in a set.
  std::uint64_t lost() const { return matcher_.lost(); }

 private:
  detail::SyncMatcher matcher_;
  std::tuple<std::vector<Ts>...> slots_;
};

/// The same for any number of inputs of one type.
template <typename T>
class SyncListBuffer {
 public:
  /// Makes a buffer for this number of inputs, in which `depth` messages of each may wait.
  SyncListBuffer(std::size_t inputs, std::size_t depth, SyncPolicy policy, std::int64_t window_ns)
      : matcher_(inputs, depth, policy == SyncPolicy::kExact ? 0 : window_ns),
        slots_(inputs, std::vector<T>(depth)),
        set_(inputs) {}

  /// Adds to an input, as SyncBuffer does.
  bool add(std::size_t input, T& message, std::int64_t stamp_ns) {
    std::swap(slots_[input][matcher_.add(input, stamp_ns)], message);
    return matcher_.match(input);
  }

  /// Returns the set's messages, in the order of the inputs; valid until `consume`.
  const std::vector<const T*>& set() {
    for (std::size_t i = 0; i < set_.size(); ++i) {
      set_[i] = &slots_[i][matcher_.slot(i)];
    }
    return set_;
  }

  /// Removes the set and everything older.
  void consume() { matcher_.consume(); }

  /// Returns how many messages were dropped without ever being in a set.
  std::uint64_t lost() const { return matcher_.lost(); }

 private:
  detail::SyncMatcher matcher_;
  std::vector<std::vector<T>> slots_;
  std::vector<const T*> set_;
};

}  // namespace rclrt
