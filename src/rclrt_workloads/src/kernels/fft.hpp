// SPDX-License-Identifier: Apache-2.0
// Signal processing: a fast Fourier transform in fixed-point numbers.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// A workload that computes the Fourier transform of Cooley and Tukey (1965) in place, for lengths
/// that are powers of two. Each stage halves the values, so the result is the transform divided by
/// the number of samples.
class Fft {
 public:
  static constexpr std::size_t kSamples = 512;

  Fft() {
    Numbers noise(3);
    for (std::size_t i = 0; i < kSamples; ++i) {
      signal[i] =
          static_cast<std::int32_t>(noise.below(20'000)) - 10'000 + (i % 16 < 8 ? 12'000 : -12'000);
    }
    for (std::size_t i = 0; i < kSamples / 2; ++i) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(kSamples);
      cosine_[i] = static_cast<std::int32_t>(std::lround(std::cos(angle) * kOne));
      sine_[i] = static_cast<std::int32_t>(std::lround(std::sin(angle) * kOne));
    }
  }

  std::uint64_t run() noexcept {
    real = signal;
    imaginary.fill(0);
    reorder();
    for (std::size_t half = 1; half < kSamples; half *= 2) {
      for (std::size_t block = 0; block < kSamples; block += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) {
          butterfly(block + i, block + i + half, i * (kSamples / 2 / half));
        }
      }
    }
    return checksum(std::span<const std::int32_t>(real)) ^
           checksum(std::span<const std::int32_t>(imaginary)) * 3;
  }

  std::array<std::int32_t, kSamples> signal{};
  std::array<std::int32_t, kSamples> real{};
  std::array<std::int32_t, kSamples> imaginary{};

 private:
  static constexpr int kBits = 14;
  static constexpr double kOne = 1 << kBits;

  /// Moves each sample to the index with the bits reversed.
  void reorder() noexcept {
    for (std::size_t i = 1, reversed = 0; i < kSamples; ++i) {
      std::size_t bit = kSamples / 2;
      for (; (reversed & bit) != 0; bit /= 2) {
        reversed ^= bit;
      }
      reversed ^= bit;
      if (i < reversed) {
        std::swap(real[i], real[reversed]);
      }
    }
  }

  void butterfly(std::size_t a, std::size_t b, std::size_t turn) noexcept {
    const std::int64_t turned_real =
        (std::int64_t{real[b]} * cosine_[turn] - std::int64_t{imaginary[b]} * sine_[turn]) >> kBits;
    const std::int64_t turned_imaginary =
        (std::int64_t{real[b]} * sine_[turn] + std::int64_t{imaginary[b]} * cosine_[turn]) >> kBits;
    real[b] = static_cast<std::int32_t>((real[a] - turned_real) >> 1);
    imaginary[b] = static_cast<std::int32_t>((imaginary[a] - turned_imaginary) >> 1);
    real[a] = static_cast<std::int32_t>((real[a] + turned_real) >> 1);
    imaginary[a] = static_cast<std::int32_t>((imaginary[a] + turned_imaginary) >> 1);
  }

  std::array<std::int32_t, kSamples / 2> cosine_{};
  std::array<std::int32_t, kSamples / 2> sine_{};
};

}  // namespace rclrt::workloads::detail
