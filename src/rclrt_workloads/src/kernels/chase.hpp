// SPDX-License-Identifier: Apache-2.0
// Memory: follows pointers through more memory than caches hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// A workload that follows links through memory, bound by cache misses. The links form one ring
/// through all cache lines in random order (Sattolo 1986). Each iteration follows kHops links; the
/// address of a load is only known after the load before it has completed.
class Chase {
 public:
  static constexpr std::size_t kLines = 1U << 17U;  ///< of 64 bytes: 8 MiB
  static constexpr std::size_t kHops = 500;

  struct alignas(64) Line {
    std::uint32_t next;
    std::uint32_t place;  ///< on the ring
  };

  Chase() : lines(kLines) {
    std::vector<std::uint32_t> order(kLines);
    std::iota(order.begin(), order.end(), 0U);
    Numbers numbers(10);
    for (std::size_t i = kLines - 1; i > 0; --i) {
      std::swap(order[i], order[numbers.below(i)]);
    }
    std::uint32_t at = 0;
    for (std::uint32_t place = 0; place < kLines; ++place) {
      lines[at] = {order[at], place};
      at = order[at];
    }
  }

  /// Returns its position on the ring.
  std::uint64_t run() noexcept {
    const std::uint32_t from = lines[at_].place;
    for (std::size_t hop = 0; hop < kHops; ++hop) {
      at_ = lines[at_].next;
    }
    return (lines[at_].place + kLines - from) % kLines;
  }

  std::vector<Line> lines;

 private:
  std::uint32_t at_ = 0;
};

}  // namespace rclrt::workloads::detail
