// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/nearest_word.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rclrt::text {
namespace {

constexpr std::size_t kMaxWord = 64;
constexpr std::size_t kLeastPrefix = 3;

/// Returns the only known word that begins with `word`; empty if there is none, or several.
std::string_view completion(std::string_view word, std::span<const std::string_view> known) {
  const auto begins = [&](std::string_view each) { return each.starts_with(word); };
  const auto found = std::ranges::find_if(known, begins);
  const bool is_one = word.size() >= kLeastPrefix && found != known.end() &&
                      std::ranges::count_if(known, begins) == 1;
  return is_one ? *found : std::string_view();
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kMaxWord) {
    return {};
  }
  const std::size_t tolerated = word.size() <= 4 ? 1 : (word.size() <= 8 ? 2 : 3);
  std::string_view best;
  std::size_t best_distance = tolerated + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > word.size() + tolerated || candidate.size() + tolerated < word.size()) {
      continue;
    }
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < word.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best.empty() ? completion(word, known) : best;
}

}  // namespace rclrt::text
