// SPDX-License-Identifier: Apache-2.0
// The word that was meant by a misspelled one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "rclrt/text/export.hpp"

namespace rclrt::text {

/// Returns the edit distance of two short words: the number of insertions, deletions, replacements
/// and swaps of neighbouring characters that turn one into the other.
RCLRT_TEXT_EXPORT std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the word of `known` that the user probably meant: the one with the smallest edit
/// distance or, if none is near, the only one that begins with `word`. Returns an empty text if
/// there is no such word, or if `word` has more than 64 characters.
RCLRT_TEXT_EXPORT std::string_view nearest_word(std::string_view word,
                                                std::span<const std::string_view> known);

}  // namespace rclrt::text
