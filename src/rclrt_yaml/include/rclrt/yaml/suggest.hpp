// SPDX-License-Identifier: Apache-2.0
// "did you mean 'points'?"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/yaml/export.hpp"

namespace rclrt::yaml {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours between two
/// short words.
RCLRT_YAML_EXPORT std::size_t edit_distance(std::string_view a, std::string_view b);

/// Words that may have been meant.
struct Suggestion {
  std::string expected;    ///< what to expect instead of the word, with the guess
  std::string_view guess;  ///< the known word that it probably stands for; empty when none is near
};

/// One object serves one file and stops guessing when it has compared a hundred thousand pairs, so
/// a hostile file cannot keep it busy.
class RCLRT_YAML_EXPORT Suggester {
 public:
  /// Returns the nearest known word; without one, all known words when they are few. `otherwise`
  /// says in general what to expect, such as "a known key".
  Suggestion suggest(std::string_view word, const std::vector<std::string_view>& known,
                     std::string_view otherwise);

 private:
  std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

  std::size_t comparisons_left_ = 100'000;
};

}  // namespace rclrt::yaml
