// SPDX-License-Identifier: Apache-2.0
// The problems of one file, each with its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"

namespace rclrt::yaml {

/// A position in the text, counted from 1.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// One problem. Line and column count from 1, columns in characters.
struct Diagnostic {
  std::size_t line{};
  std::size_t column{};
  std::string message;  ///< "what is wrong; expected what"
  bool operator==(const Diagnostic&) const = default;
};

/// Returns "file:line:column: message"
RCLRT_MODEL_EXPORT std::string to_string(const Diagnostic& diagnostic, std::string_view file);

/// Collects the problems of a file.
class RCLRT_MODEL_EXPORT Diagnostics {
 public:
  /// The largest number of problems that are kept with their texts. Further ones are only counted,
  /// because a hostile file can contain millions.
  static constexpr std::size_t kMaxKept = 1000;

  /// Reports a problem: what is wrong at a position, and what was expected.
  void report(Position at, std::string_view what, std::string_view expected);

  bool empty() const { return kept_.empty(); }

  /// Returns everything reported, sorted by position.
  std::vector<Diagnostic> take();

 private:
  std::vector<Diagnostic> kept_;
  std::size_t not_kept_ = 0;
};

/// Returns the text in single quotes, safe to print on a terminal: control characters and invisible
/// characters are escaped, and long texts are shortened.
RCLRT_MODEL_EXPORT std::string in_quotes(std::string_view text);

/// Returns "'a', 'b' or 'c'"
RCLRT_MODEL_EXPORT std::string list_in_quotes(const std::vector<std::string_view>& texts);

/// Returns "line 3"
RCLRT_MODEL_EXPORT std::string line_of(Position at);

}  // namespace rclrt::yaml
