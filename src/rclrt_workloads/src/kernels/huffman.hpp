// SPDX-License-Identifier: Apache-2.0
// Compression: makes a Huffman code for a text, and writes the text in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// Counts the letters of a text, makes their code and writes the text in it.
class Huffman {
 public:
  static constexpr std::size_t kLetters = 64;
  static constexpr std::size_t kText = 4096;

  Huffman() {
    Numbers numbers(2);
    for (std::uint8_t& letter : text) {
      // The lower of three: early letters are more frequent.
      const std::uint64_t three =
          std::min({numbers.below(kLetters), numbers.below(kLetters), numbers.below(kLetters)});
      letter = static_cast<std::uint8_t>(three);
    }
  }

  std::uint64_t run() noexcept {
    count();
    make_tree();
    make_codes();
    write();
    return checksum(std::span<const std::uint64_t>(words)) + bits;
  }

  std::array<std::uint8_t, kText> text{};
  std::array<std::uint8_t, kLetters> lengths{};  ///< bits of each letter; 0: it does not occur
  std::array<std::uint64_t, kLetters> codes{};   ///< the last bit of a code is the lowest one
  std::array<std::uint64_t, kText / 8> words{};  ///< from the highest bit on
  std::size_t bits = 0;

 private:
  static constexpr std::size_t kNodes = 2 * kLetters;

  void count() noexcept {
    weight_.fill(0);
    for (const std::uint8_t letter : text) {
      ++weight_[letter];
    }
  }

  /// Joins the two lightest nodes until one is left; a heap has the lightest first.
  void make_tree() noexcept {
    std::size_t size = 0;
    for (std::uint16_t letter = 0; letter < kLetters; ++letter) {
      if (weight_[letter] > 0) {
        heap_[size++] = letter;
      }
    }
    const auto heavier = [this](std::uint16_t a, std::uint16_t b) {
      return weight_[a] != weight_[b] ? weight_[a] > weight_[b] : a > b;
    };
    const auto begin = heap_.begin();
    const auto end = [&] { return begin + static_cast<std::ptrdiff_t>(size); };
    std::make_heap(begin, end(), heavier);
    std::uint16_t node = kLetters;
    for (; size > 1; ++node) {
      weight_[node] = 0;
      for (int child = 0; child < 2; ++child) {
        std::pop_heap(begin, end(), heavier);
        const std::uint16_t lightest = heap_[--size];
        parent_[lightest] = node;
        weight_[node] += weight_[lightest];
      }
      heap_[size++] = node;
      std::push_heap(begin, end(), heavier);
    }
    root_ = heap_[0];
  }

  /// Assigns ascending numbers to codes of equal length: a canonical code.
  void make_codes() noexcept {
    std::array<std::uint64_t, kLetters + 1> of_length{};
    for (std::size_t letter = 0; letter < kLetters; ++letter) {
      lengths[letter] = 0;
      if (weight_[letter] > 0) {
        for (std::size_t node = letter; node != root_; node = parent_[node]) {
          ++lengths[letter];
        }
        ++of_length[lengths[letter]];
      }
    }
    std::array<std::uint64_t, kLetters + 1> next{};
    for (std::size_t length = 2; length <= kLetters; ++length) {
      next[length] = (next[length - 1] + of_length[length - 1]) << 1;
    }
    for (std::size_t letter = 0; letter < kLetters; ++letter) {
      codes[letter] = lengths[letter] > 0 ? next[lengths[letter]]++ : 0;
    }
  }

  void write() noexcept {
    words.fill(0);
    bits = 0;
    for (const std::uint8_t letter : text) {
      for (std::size_t bit = lengths[letter]; bit-- > 0; ++bits) {
        words[bits / 64] |= (codes[letter] >> bit & 1U) << (63 - bits % 64);
      }
    }
  }

  std::array<std::uint64_t, kNodes> weight_{};
  std::array<std::uint16_t, kNodes> parent_{};
  std::array<std::uint16_t, kNodes> heap_{};
  std::size_t root_ = 0;
};

}  // namespace rclrt::workloads::detail
