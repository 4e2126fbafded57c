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

/// Makes suggestions for one file. It stops guessing after a hundred thousand compared pairs, so
/// that a hostile file cannot keep it busy.
class RCLRT_MODEL_EXPORT Suggester {
 public:
  /// Returns the nearest known word; if there is none, all known words if they are few. `otherwise`
  /// is the general expectation, such as "a known key".
  Suggestion suggest(std::string_view word, const std::vector<std::string_view>& known,
                     std::string_view otherwise);

 private:
  std::size_t comparisons_left_ = 100'000;
};

}  // namespace rclrt::yaml
