// SPDX-License-Identifier: Apache-2.0
// Keeps the samples that a stall may have delayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rclrt/recorder/host_stall.hpp"

namespace rclrt::latency {

/// A thread that should have woken at `due_ns` and woke `late_ns` later.
struct Sample {
  std::int64_t due_ns = 0;
  std::int64_t late_ns = 0;
};

/// Keeps the wake-ups that were late the most, in bounded memory: all samples until there are too
/// many, then only those above a limit that rises.
class LateSamples {
 public:
  /// Makes a buffer of at most `capacity` samples, two or more.
  explicit LateSamples(std::size_t capacity = 200'000);

  void add(const Sample& sample);

  /// Returns the samples with a delay that overlaps one of the stalls.
  std::vector<Sample> disturbed(const recorder::StallTimeline& stalls) const;

  /// Returns the lateness below which no sample is kept: such samples count as undisturbed.
  std::int64_t floor_ns() const { return floor_ns_; }
  std::span<const Sample> samples() const { return samples_; }

 private:
  void raise_floor();

  std::size_t capacity_;
  std::int64_t floor_ns_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace rclrt::latency
