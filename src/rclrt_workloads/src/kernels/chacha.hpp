// SPDX-License-Identifier: Apache-2.0
// Cryptography: the ChaCha20 cipher of RFC 8439.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// A workload that encrypts one page with ChaCha. It uses no tables and no branches on data, so its
/// time does not depend on the data.
class ChaCha {
 public:
  static constexpr std::size_t kBytes = 4096;
  using Words = std::array<std::uint32_t, 16>;

  ChaCha() {
    Numbers numbers(6);
    for (std::uint32_t& word : key) {
      word = static_cast<std::uint32_t>(numbers.next());
    }
    for (std::uint8_t& byte : text) {
      byte = static_cast<std::uint8_t>(numbers.next());
    }
  }

  /// Returns the block of the key stream of RFC 8439, section 2.3.
  static Words block(const std::array<std::uint32_t, 8>& key, std::uint32_t counter,
                     const std::array<std::uint32_t, 3>& nonce) noexcept {
    Words state{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1],
                key[2],     key[3],     key[4],     key[5],     key[6], key[7],
                counter,    nonce[0],   nonce[1],   nonce[2]};
    const Words start = state;
    for (int round = 0; round < 10; ++round) {
      for (std::size_t column = 0; column < 4; ++column) {
        quarter(state, {column, 4 + column, 8 + column, 12 + column});
      }
      for (std::size_t diagonal = 0; diagonal < 4; ++diagonal) {
        quarter(state, {diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4,
                        12 + (diagonal + 3) % 4});
      }
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
      state[i] += start[i];
    }
    return state;
  }

  std::uint64_t run() noexcept {
    for (std::size_t at = 0; at < kBytes; at += 64) {
      const Words stream = block(key, static_cast<std::uint32_t>(1 + at / 64), {1, 2, 3});
      for (std::size_t i = 0; i < 64; ++i) {
        cipher[at + i] = static_cast<std::uint8_t>(text[at + i] ^ stream[i / 4] >> (8 * (i % 4)));
      }
    }
    return checksum(std::span<const std::uint8_t>(cipher));
  }

  std::array<std::uint32_t, 8> key{};
  std::array<std::uint8_t, kBytes> text{};
  std::array<std::uint8_t, kBytes> cipher{};

 private:
  static void quarter(Words& state, const std::array<std::size_t, 4>& at) noexcept {
    std::uint32_t& a = state[at[0]];
    std::uint32_t& b = state[at[1]];
    std::uint32_t& c = state[at[2]];
    std::uint32_t& d = state[at[3]];
    a += b;
    d = std::rotl(d ^ a, 16);
    c += d;
    b = std::rotl(b ^ c, 12);
    a += b;
    d = std::rotl(d ^ a, 8);
    c += d;
    b = std::rotl(b ^ c, 7);
  }
};

}  // namespace rclrt::workloads::detail
