// SPDX-License-Identifier: Apache-2.0
// Checks each workload's result against the same result by another method.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "kernels/adpcm.hpp"
#include "kernels/chacha.hpp"
#include "kernels/chase.hpp"
#include "kernels/edges.hpp"
#include "kernels/fft.hpp"
#include "kernels/huffman.hpp"
#include "kernels/lexer.hpp"
#include "kernels/matrix.hpp"
#include "kernels/shortest_paths.hpp"
#include "kernels/sort.hpp"
#include "rclrt/workloads/workload.hpp"

namespace rclrt::workloads {
namespace {

using testing::ElementsAre;

class Workloads : public testing::TestWithParam<Workload> {};

TEST_P(Workloads, GiveTheSameKnownResultInEveryIteration) {
  const auto one = GetParam().make();
  const auto other = make(std::string(GetParam().name));
  for (int iteration = 0; iteration < 5; ++iteration) {
    EXPECT_EQ(one->run(), GetParam().result);
    EXPECT_EQ(other->run(), GetParam().result);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Workloads, testing::ValuesIn(workloads()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Adpcm, DecodesWhatIsCloseToTheSignal) {
  detail::Adpcm adpcm;
  adpcm.run();
  double signal = 0;
  double error = 0;
  for (std::size_t i = 200; i < adpcm.signal.size(); ++i) {
    signal += std::pow(adpcm.signal[i], 2);
    error += std::pow(adpcm.signal[i] - adpcm.decoded[i], 2);
    EXPECT_LT(adpcm.codes[i], 16);
  }
  EXPECT_GT(signal / error, 100);  // 20 dB
}

TEST(Huffman, IsAsShortAsTheEntropyAllowsAndCanBeRead) {
  detail::Huffman huffman;
  huffman.run();
  std::array<double, detail::Huffman::kLetters> counts{};
  for (const std::uint8_t letter : huffman.text) {
    ++counts[letter];
  }
  double entropy = 0;
  double kraft = 0;
  for (std::size_t letter = 0; letter < counts.size(); ++letter) {
    if (counts[letter] > 0) {
      entropy -= counts[letter] * std::log2(counts[letter] / double{detail::Huffman::kText});
      kraft += std::exp2(-huffman.lengths[letter]);
    }
  }
  EXPECT_EQ(kraft, 1);
  EXPECT_GE(static_cast<double>(huffman.bits), entropy);
  EXPECT_LE(static_cast<double>(huffman.bits), entropy + detail::Huffman::kText);
  std::size_t at = 0;
  for (const std::uint8_t letter : huffman.text) {
    std::uint64_t code = 0;
    std::size_t length = 0;
    std::size_t read = counts.size();
    while (read == counts.size() && length < 64) {
      code = code << 1 | (huffman.words[at / 64] >> (63 - at % 64) & 1U);
      ++at;
      ++length;
      for (std::size_t each = 0; each < counts.size(); ++each) {
        read = huffman.lengths[each] == length && huffman.codes[each] == code ? each : read;
      }
    }
    ASSERT_EQ(read, letter);
  }
  EXPECT_EQ(at, huffman.bits);
}

TEST(Fft, IsTheTransformByItsDefinition) {
  detail::Fft fft;
  fft.run();
  constexpr std::size_t kN = detail::Fft::kSamples;
  for (std::size_t k = 0; k < kN; k += 7) {
    std::complex<double> sum;
    for (std::size_t i = 0; i < kN; ++i) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k * i % kN) / double{kN};
      sum += double(fft.signal[i]) * std::polar(1.0, angle);
    }
    EXPECT_NEAR(fft.real[k], sum.real() / double{kN}, 8) << k;
    EXPECT_NEAR(fft.imaginary[k], sum.imag() / double{kN}, 8) << k;
  }
}

TEST(Matrix, IsTheProductByItsDefinition) {
  detail::Matrix matrix;
  matrix.run();
  constexpr std::size_t kN = detail::Matrix::kSize;
  for (std::size_t row = 0; row < kN; ++row) {
    for (std::size_t column = 0; column < kN; ++column) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < kN; ++k) {
        sum += std::int64_t{matrix.left[row * kN + k]} * matrix.right[k * kN + column];
      }
      ASSERT_EQ(matrix.product[row * kN + column], sum);
    }
  }
}

TEST(ShortestPaths, AreThoseOfBellmanAndFord) {
  detail::ShortestPaths paths;
  paths.run();
  std::array<std::uint64_t, detail::ShortestPaths::kNodes> distances{};
  distances.fill(std::numeric_limits<std::uint32_t>::max());
  distances[0] = 0;
  for (std::size_t pass = 0; pass < distances.size(); ++pass) {
    for (std::size_t node = 0; node < distances.size(); ++node) {
      for (const auto& edge : paths.edges[node]) {
        distances[edge.to] = std::min(distances[edge.to], distances[node] + edge.length);
      }
    }
  }
  EXPECT_TRUE(std::ranges::equal(paths.distances, distances));
}

TEST(ChaCha, IsThatOfTheRfc) {
  // RFC 8439, section 2.3.2: the key 00 01 02 ..., counter 1.
  const std::array<std::uint32_t, 8> key{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
                                         0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c};
  EXPECT_THAT(detail::ChaCha::block(key, 1, {0x09000000, 0x4a000000, 0}),
              ElementsAre(0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
                          0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                          0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2));
}

TEST(Sort, Sorts) {
  detail::Sort sort;
  sort.run();
  auto expected = sort.unsorted;
  std::ranges::sort(expected);
  EXPECT_EQ(sort.sorted, expected);
}

TEST(Lexer, FindsWhatTheTextWasMadeOf) {
  detail::Lexer lexer;
  lexer.run();
  EXPECT_EQ(lexer.found, lexer.written);
  EXPECT_GT(lexer.found.strings, 50U);
  EXPECT_EQ(detail::Lexer::take_apart("]a1 [7?"),
            (detail::Lexer::Found{1, 7, 1, 0, 1, 3}));  // ']', '?', and '[' is not closed
}

TEST(Edges, AreWhereThePictureChanges) {
  detail::Edges edges;
  edges.picture.fill(7);
  edges.run();
  EXPECT_EQ(std::ranges::count(edges.edges, 0), static_cast<std::ptrdiff_t>(edges.edges.size()));
  constexpr std::size_t kWidth = detail::Edges::kWidth;
  for (std::size_t i = 0; i < edges.picture.size(); ++i) {
    edges.picture[i] = i % kWidth < 50 ? 10 : 20;
  }
  edges.run();
  EXPECT_EQ(edges.edges[5 * kWidth + 48], 0);
  EXPECT_EQ(edges.edges[5 * kWidth + 49], 40);
  EXPECT_EQ(edges.edges[5 * kWidth + 50], 40);
  EXPECT_EQ(edges.edges[5 * kWidth + 51], 0);
}

TEST(Chase, PassesEveryLineOfTheRing) {
  const detail::Chase chase;
  std::size_t hops = 0;
  for (std::uint32_t at = 0; hops == 0 || at != 0; ++hops) {
    ASSERT_EQ(chase.lines[at].place, hops);
    at = chase.lines[at].next;
  }
  EXPECT_EQ(hops, detail::Chase::kLines);
}

}  // namespace
}  // namespace rclrt::workloads
