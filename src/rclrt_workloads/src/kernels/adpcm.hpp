// SPDX-License-Identifier: Apache-2.0
// Codec: adaptive differential pulse-code modulation, four bits a sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// The state of an encoder or decoder of ADPCM sound: it predicts that each sample equals the last
/// one, and codes the difference in steps of a size that follows the signal. The scheme is the
/// recommendation of the IMA (1992).
class AdpcmState {
 public:
  std::uint8_t encode(std::int32_t sample) noexcept {
    const std::int32_t difference = sample - predicted_;
    std::uint8_t code = difference < 0 ? 8 : 0;
    std::int32_t rest = difference < 0 ? -difference : difference;
    std::int32_t step = step_;
    for (std::uint8_t bit = 4; bit != 0; bit = static_cast<std::uint8_t>(bit >> 1)) {
      if (rest >= step) {
        code |= bit;
        rest -= step;
      }
      step >>= 1;
    }
    decode(code);
    return code;
  }

  std::int32_t decode(std::uint8_t code) noexcept {
    std::int32_t change = step_ >> 3;
    change += (code & 4U) != 0 ? step_ : 0;
    change += (code & 2U) != 0 ? step_ >> 1 : 0;
    change += (code & 1U) != 0 ? step_ >> 2 : 0;
    predicted_ += (code & 8U) != 0 ? -change : change;
    predicted_ = predicted_ < kLow ? kLow : predicted_ > kHigh ? kHigh : predicted_;
    // A large difference makes the step grow by up to 2.1, a small one shrink by a tenth.
    const std::int32_t size = code & 7U;
    step_ = size < 4 ? step_ * 10 / 11 : step_ * (10 + 3 * (size - 3)) / 10;
    step_ = step_ < 7 ? 7 : step_ > kHigh ? kHigh : step_;
    return predicted_;
  }

 private:
  static constexpr std::int32_t kLow = -32768;
  static constexpr std::int32_t kHigh = 32767;
  std::int32_t predicted_ = 0;
  std::int32_t step_ = 7;
};

/// A workload that encodes 2000 samples of a synthetic signal (0.25 s of telephone speech) and
/// decodes them again.
class Adpcm {
 public:
  static constexpr std::size_t kSamples = 2000;

  Adpcm() {
    Numbers noise(1);
    for (std::size_t i = 0; i < kSamples; ++i) {
      const auto at = static_cast<std::int32_t>(i);
      signal[i] = triangle(at, 160) * 60 + triangle(at, 44) * 100 +
                  static_cast<std::int32_t>(noise.below(200));
    }
  }

  std::uint64_t run() noexcept {
    AdpcmState coder;
    for (std::size_t i = 0; i < kSamples; ++i) {
      codes[i] = coder.encode(signal[i]);
    }
    AdpcmState decoder;
    for (std::size_t i = 0; i < kSamples; ++i) {
      decoded[i] = decoder.decode(codes[i]);
    }
    return checksum(std::span<const std::int32_t>(decoded));
  }

  std::array<std::int32_t, kSamples> signal{};
  std::array<std::uint8_t, kSamples> codes{};
  std::array<std::int32_t, kSamples> decoded{};

 private:
  /// Returns a value from -period / 4 to period / 4 and back.
  static std::int32_t triangle(std::int32_t at, std::int32_t period) {
    const std::int32_t phase = at % period;
    return (phase < period / 2 ? phase : period - phase) - period / 4;
  }
};

}  // namespace rclrt::workloads::detail
