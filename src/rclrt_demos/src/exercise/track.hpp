// SPDX-License-Identifier: Apache-2.0
// Measured times, recorded without allocation: slices as a trace shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::demos {

/// Begin and end of a span, on CLOCK_MONOTONIC.
struct TimeSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Records all time spans of one name, such as "Loop". Memory is allocated at set-up; spans for
/// which there is no memory left are only counted, in dropped(). Not thread-safe: one thread at a
/// time records.
class Slice {
 public:
  /// Allocates memory for `capacity` spans, and touches it.
  RCLRT_SETUP Slice(std::string name, std::size_t capacity)
      : name_(std::move(name)), spans_(capacity, TimeSpan{.begin_ns = -1}) {}

  /// Keeps one span.
  void record(std::int64_t begin_ns, std::int64_t end_ns) noexcept RCLRT_NONBLOCKING {
    if (count_ == spans_.size()) {
      ++dropped_;
      return;
    }
    spans_[count_++] = {begin_ns, end_ns};
  }

  const std::string& name() const noexcept { return name_; }
  std::span<const TimeSpan> spans() const noexcept { return {spans_.data(), count_}; }
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  const std::string name_;
  std::vector<TimeSpan> spans_;
  std::size_t count_ = 0;
  std::uint64_t dropped_ = 0;
};

/// Records the time from its construction to its destruction.
class [[nodiscard]] Measure {
 public:
  /// Begins the span.
  explicit Measure(Slice& slice) noexcept RCLRT_NONBLOCKING
      : slice_(slice),
        begin_ns_(realtime::monotonic_now_ns()) {}
  ~Measure() noexcept RCLRT_NONBLOCKING { slice_.record(begin_ns_, realtime::monotonic_now_ns()); }
  Measure(const Measure&) = delete;
  Measure& operator=(const Measure&) = delete;

 private:
  Slice& slice_;
  const std::int64_t begin_ns_;
};

/// A line of the trace: slices that follow each other or lie within each other.
class Track {
 public:
  explicit Track(std::string name) : name_(std::move(name)) {}

  /// Adds a slice; the reference stays valid.
  RCLRT_SETUP Slice& add_slice(std::string name, std::size_t capacity) {
    return slices_.emplace_back(std::move(name), capacity);
  }
  /// Adds instants: slices without a length, which are in the trace only.
  RCLRT_SETUP Slice& add_instants(std::string name, std::size_t capacity) {
    return instants_.emplace_back(std::move(name), capacity);
  }

  const std::string& name() const noexcept { return name_; }
  const std::deque<Slice>& slices() const noexcept { return slices_; }
  const std::deque<Slice>& instants() const noexcept { return instants_; }

 private:
  const std::string name_;
  std::deque<Slice> slices_;
  std::deque<Slice> instants_;
};

}  // namespace rclrt::demos
