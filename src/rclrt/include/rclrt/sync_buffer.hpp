// SPDX-License-Identifier: Apache-2.0
// Which messages of two topics belong together. Pure: no ROS, no clock, no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rclrt {

/// Which messages belong together.
enum class SyncPolicy {
  kExact,        ///< equal stamps
  kApproximate,  ///< the nearest stamps, at most a window apart
};

/// Messages of one input in order of arrival, in storage that exists since construction.
template <typename T>
class SyncInputBuffer {
 public:
  /// Makes room for `depth` messages.
  explicit SyncInputBuffer(std::size_t depth) : entries_(depth) {
    if (depth == 0) {
      throw std::invalid_argument("a synchroniser's depth must be at least 1");
    }
  }

  /// Swaps `message` in; the oldest gives way when full. Returns whether one was lost.
  bool add(T& message, std::int64_t stamp_ns) {
    const bool full = size_ == entries_.size();
    if (full) {
      drop_through(0);
    }
    Entry& entry = at(size_++);
    std::swap(entry.message, message);
    entry.stamp_ns = stamp_ns;
    return full;
  }

  std::size_t size() const { return size_; }
  /// Returns the i-th message that waits, the oldest first.
  const T& message(std::size_t i) const { return at(i).message; }
  /// Returns its stamp.
  std::int64_t stamp_ns(std::size_t i) const { return at(i).stamp_ns; }

  /// Removes the entries 0..i.
  void drop_through(std::size_t i) {
    first_ = (first_ + i + 1) % entries_.size();
    size_ -= i + 1;
  }

 private:
  struct Entry {
    T message;
    std::int64_t stamp_ns = 0;
  };
  const Entry& at(std::size_t i) const { return entries_[(first_ + i) % entries_.size()]; }
  Entry& at(std::size_t i) { return entries_[(first_ + i) % entries_.size()]; }

  std::vector<Entry> entries_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

/// Pairs messages as they arrive. A message is paired at once with the waiting message of the
/// other input whose stamp is nearest (and within the window, or equal); both and everything
/// older on either side are then done with. Each message is in at most one pair, and pairs are in
/// order on both sides. Unlike message_filters' approximate policy it never waits for a possibly
/// better partner: that adds no delay, and for inputs of equal rate it finds the same pairs.
template <typename A, typename B>
class SyncBuffer {
 public:
  /// Makes a buffer in which `depth` messages of each input may wait.
  SyncBuffer(std::size_t depth, SyncPolicy policy, std::int64_t window_ns)
      : a_(depth), b_(depth), window_ns_(policy == SyncPolicy::kExact ? 0 : window_ns) {}

  /// Adds to one side. True when that made a pair: see `first` and `second`, then `consume`.
  bool add_first(A& message, std::int64_t stamp_ns) {
    lost_ += a_.add(message, stamp_ns) ? 1 : 0;
    return match(a_.size() - 1, find(b_, stamp_ns));
  }
  /// Adds a message of the second input, as add_first does.
  bool add_second(B& message, std::int64_t stamp_ns) {
    lost_ += b_.add(message, stamp_ns) ? 1 : 0;
    return match(find(a_, stamp_ns), b_.size() - 1);
  }

  const A& first() const { return a_.message(*match_a_); }
  const B& second() const { return b_.message(*match_b_); }

  /// Removes the pair and everything older.
  void consume() {
    lost_ += *match_a_ + *match_b_;
    a_.drop_through(*match_a_);
    b_.drop_through(*match_b_);
    match_a_ = match_b_ = std::nullopt;
  }

  /// Returns how many messages gave way without ever being in a pair.
  std::uint64_t lost() const { return lost_; }

 private:
  template <typename T>
  std::optional<std::size_t> find(const SyncInputBuffer<T>& buffer, std::int64_t stamp_ns) const {
    std::optional<std::size_t> best;
    std::int64_t best_distance = window_ns_;
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      const std::int64_t distance = std::abs(buffer.stamp_ns(i) - stamp_ns);
      if (distance < best_distance || (distance == best_distance && !best)) {
        best = i;
        best_distance = distance;
      }
    }
    return best;
  }

  bool match(std::optional<std::size_t> a, std::optional<std::size_t> b) {
    if (!a || !b) {
      return false;
    }
    match_a_ = a;
    match_b_ = b;
    return true;
  }

  SyncInputBuffer<A> a_;
  SyncInputBuffer<B> b_;
  const std::int64_t window_ns_;
  std::optional<std::size_t> match_a_;
  std::optional<std::size_t> match_b_;
  std::uint64_t lost_ = 0;
};

}  // namespace rclrt
