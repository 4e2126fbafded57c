// SPDX-License-Identifier: Apache-2.0
// The input data of workloads: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rclrt::workloads::detail {

/// Pseudo-random numbers: the mixing function of SplitMix64 (Steele, Lea and Flood 2014).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }

  /// Returns a number from 0 to `count` - 1; `count` must be small compared with 2^64.
  std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }

 private:
  std::uint64_t state_;
};

/// Returns the FNV-1a hash of values, 64 bits at a time.
template <typename T>
std::uint64_t checksum(std::span<const T> values) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const T& value : values) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001B3U;
  }
  return hash;
}

}  // namespace rclrt::workloads::detail
