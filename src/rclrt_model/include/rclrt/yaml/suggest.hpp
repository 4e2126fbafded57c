// SPDX-License-Identifier: Apache-2.0
// "did you mean 'points'?"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"

namespace rclrt::yaml {

/// A word that may have been meant.
struct Suggestion {
  std::string expected;    ///< the expectation instead of the word, with the guess
  std::string_view guess;  ///< the known word that was probably meant; empty if none is similar
};

/// Makes suggestions for wrong words in one file. After comparing a hundred thousand pairs of words
/// it stops guessing, so that a hostile file cannot keep it busy.
class RCLRT_MODEL_EXPORT Suggester {
 public:
  /// Returns what to expect instead of `word`: the nearest known word; if none is near, all known
  /// words if they are few; otherwise `otherwise`, such as "a known key".
  Suggestion suggest(std::string_view word, const std::vector<std::string_view>& known,
                     std::string_view otherwise);

 private:
  std::size_t comparisons_left_ = 100'000;
};

}  // namespace rclrt::yaml
