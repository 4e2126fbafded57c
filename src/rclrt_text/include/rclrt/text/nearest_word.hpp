// SPDX-License-Identifier: Apache-2.0
// The word that was meant by a misspelled one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "rclrt/text/export.hpp"

namespace rclrt::text {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours between two
/// short words.
RCLRT_TEXT_EXPORT std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known word that was probably meant: the nearest by edit distance, or else the only
/// one that begins with `word`. Returns an empty text if none is near. A word of more than 64
/// characters is not compared.
RCLRT_TEXT_EXPORT std::string_view nearest_word(std::string_view word,
                                                std::span<const std::string_view> known);

}  // namespace rclrt::text
