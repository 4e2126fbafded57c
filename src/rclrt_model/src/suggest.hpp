// SPDX-License-Identifier: Apache-2.0
/// "did you mean 'points'?"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rclrt::model::detail {

/// Number of insertions, deletions, replacements and swaps of neighbours between two short words.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Finds the known word that a misspelt one probably stands for. One object serves one file and stops
/// guessing when it has compared a hundred thousand pairs, so a hostile file cannot keep it busy.
class Suggester {
 public:
  /// Empty when nothing is near.
  std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

  /// What to expect instead of the word: the known words when they are few, and a guess.
  std::string expected_one_of(std::string_view word, const std::vector<std::string_view>& known,
                              std::string_view otherwise);

 private:
  std::size_t comparisons_left_ = 100'000;
};

}  // namespace rclrt::model::detail
