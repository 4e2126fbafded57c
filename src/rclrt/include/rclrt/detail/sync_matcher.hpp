// SPDX-License-Identifier: Apache-2.0
// Decides which messages of several inputs form a set, by their stamps alone. Pure: no ROS, no
// clock, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/export.hpp"

namespace rclrt::detail {

/// Finds sets of messages with matching time stamps. It stores the stamps of the messages that wait
/// at each input, and the slot in which the caller keeps each message. Allocates only in the
/// constructor.
class RCLRT_EXPORT SyncMatcher {
 public:
  /// Makes a matcher with room for `depth` messages of each input. Messages match if their stamps
  /// are at most `window_ns` apart. Throws std::invalid_argument for a depth of 0, fewer than two
  /// inputs or a negative window.
  SyncMatcher(std::size_t inputs, std::size_t depth, std::int64_t window_ns);

  /// Adds a message with the stamp `stamp_ns` to `input`. If the input is full, its oldest message
  /// is dropped. Returns the number of the slot, from 0 to `depth` - 1, in which the caller must
  /// keep the message.
  std::size_t add(std::size_t input, std::int64_t stamp_ns);

  /// Returns whether the newest message of `input` completes a set: one message of each input, with
  /// all stamps at most the window apart. If several sets are possible, chooses the one with the
  /// closest stamps; of equally close ones, the oldest.
  bool match(std::size_t input);

  /// Returns the slot of the set's message of this input.
  std::size_t slot(std::size_t input) const {
    return slot_of(inputs_[input], inputs_[input].chosen);
  }

  /// Removes the set's messages and everything older.
  void consume();

  /// Returns how many messages were dropped without ever being in a set.
  std::uint64_t lost() const { return lost_; }

 private:
  struct Input {  // a ring in order of arrival
    std::vector<std::int64_t> stamps_ns;
    std::size_t first = 0;
    std::size_t size = 0;
    std::size_t chosen = 0;  // index of the set's message among those that wait
    std::size_t inside = 0;  // number of its candidates between the two ends in `match`
  };
  struct Candidate {
    std::int64_t stamp_ns;
    std::size_t input;
    std::size_t place;  // index among those that wait
  };
  static std::size_t slot_of(const Input& input, std::size_t place) {
    return (input.first + place) % input.stamps_ns.size();
  }
  void drop_through(Input& input, std::size_t place);
  bool find_candidates(std::size_t input, std::int64_t stamp_ns);
  void choose(std::size_t from, std::size_t to);

  std::vector<Input> inputs_;
  std::vector<Candidate> candidates_;
  const std::uint64_t window_ns_;
  std::uint64_t lost_ = 0;
};

}  // namespace rclrt::detail
