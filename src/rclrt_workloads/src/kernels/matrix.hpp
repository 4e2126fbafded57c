// SPDX-License-Identifier: Apache-2.0
// Arithmetic: the product of two matrices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// Multiplies two square matrices of integers, row by row.
class Matrix {
 public:
  static constexpr std::size_t kSize = 40;
  using Values = std::array<std::int32_t, kSize * kSize>;

  Matrix() {
    Numbers numbers(4);
    for (std::size_t i = 0; i < left.size(); ++i) {
      left[i] = static_cast<std::int32_t>(numbers.below(2001)) - 1000;
      right[i] = static_cast<std::int32_t>(numbers.below(2001)) - 1000;
    }
  }

  std::uint64_t run() noexcept {
    product.fill(0);
    for (std::size_t row = 0; row < kSize; ++row) {
      for (std::size_t k = 0; k < kSize; ++k) {
        const std::int32_t factor = left[row * kSize + k];
        for (std::size_t column = 0; column < kSize; ++column) {
          product[row * kSize + column] += factor * right[k * kSize + column];
        }
      }
    }
    return checksum(std::span<const std::int32_t>(product));
  }

  Values left{};
  Values right{};
  Values product{};
};

}  // namespace rclrt::workloads::detail
