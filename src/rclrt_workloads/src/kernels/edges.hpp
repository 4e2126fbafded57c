// SPDX-License-Identifier: Apache-2.0
// Image processing: the edges in a picture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// A workload that finds the edges in an image with Sobel's operator: the sum of the absolute
/// horizontal and vertical gradients, at most 255. Pixels at the border are not computed.
class Edges {
 public:
  static constexpr std::size_t kWidth = 96;
  static constexpr std::size_t kHeight = 72;
  using Picture = std::array<std::uint8_t, kWidth * kHeight>;

  Edges() {
    Numbers numbers(9);
    for (std::size_t y = 0; y < kHeight; ++y) {
      for (std::size_t x = 0; x < kWidth; ++x) {
        const bool inside = x > 20 && x < 60 && y > 15 && y < 50;
        picture[y * kWidth + x] =
            static_cast<std::uint8_t>((inside ? 160 : 40) + numbers.below(30));
      }
    }
  }

  std::uint64_t run() noexcept {
    for (std::size_t y = 1; y + 1 < kHeight; ++y) {
      for (std::size_t x = 1; x + 1 < kWidth; ++x) {
        edges[y * kWidth + x] = gradient(y * kWidth + x);
      }
    }
    return checksum(std::span<const std::uint8_t>(edges));
  }

  Picture picture{};
  Picture edges{};

 private:
  std::uint8_t gradient(std::size_t at) const noexcept {
    const auto pixel = [&](std::size_t index) { return int{picture[index]}; };
    const std::size_t above = at - kWidth;
    const std::size_t below = at + kWidth;
    const int across = pixel(above + 1) + 2 * pixel(at + 1) + pixel(below + 1) - pixel(above - 1) -
                       2 * pixel(at - 1) - pixel(below - 1);
    const int down = pixel(below - 1) + 2 * pixel(below) + pixel(below + 1) - pixel(above - 1) -
                     2 * pixel(above) - pixel(above + 1);
    const int sum = std::abs(across) + std::abs(down);
    return static_cast<std::uint8_t>(sum < 255 ? sum : 255);
  }
};

}  // namespace rclrt::workloads::detail
