// SPDX-License-Identifier: Apache-2.0
// Sorting of numbers in random order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// Sorts by a heap (Williams 1964). Its branches go either way, so no CPU can predict them.
class Sort {
 public:
  static constexpr std::size_t kNumbers = 1000;

  Sort() {
    Numbers numbers(7);
    for (std::uint32_t& each : unsorted) {
      each = static_cast<std::uint32_t>(numbers.next());
    }
  }

  std::uint64_t run() noexcept {
    sorted = unsorted;
    for (std::size_t root = kNumbers / 2; root-- > 0;) {
      sink(root, kNumbers);
    }
    for (std::size_t end = kNumbers - 1; end > 0; --end) {
      std::swap(sorted[0], sorted[end]);
      sink(0, end);
    }
    return checksum(std::span<const std::uint32_t>(sorted));
  }

  std::array<std::uint32_t, kNumbers> unsorted{};
  std::array<std::uint32_t, kNumbers> sorted{};

 private:
  /// Moves the number at `root` down until no child is larger.
  void sink(std::size_t root, std::size_t end) noexcept {
    for (std::size_t child = 2 * root + 1; child < end; child = 2 * root + 1) {
      if (child + 1 < end && sorted[child] < sorted[child + 1]) {
        ++child;
      }
      if (sorted[root] >= sorted[child]) {
        return;
      }
      std::swap(sorted[root], sorted[child]);
      root = child;
    }
  }
};

}  // namespace rclrt::workloads::detail
