// SPDX-License-Identifier: Apache-2.0
// The tokens of a trace's metadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ctf_metadata.hpp"

namespace rclrt::trace::ctf {

enum class TokenKind : std::uint8_t { kWord, kNumber, kText, kSign, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::int64_t number = 0;
  int line = 1;
};

/// Splits the text into tokens. A sign is a single character, ":=" or "...".
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) { advance(); }

  /// Returns the next token and leaves it in place.
  const Token& peek() const { return token_; }
  /// Takes the next token. Throws MetadataError if no token can begin here.
  Token take();
  /// Takes the sign if it is next.
  bool take_if(std::string_view sign);
  /// Takes the sign. Throws MetadataError if another token is next.
  void expect(std::string_view sign);
  /// Takes a word. Throws MetadataError if another token is next.
  std::string expect_word();

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void advance();
  void skip_space();

  std::string_view rest_;
  int line_ = 1;
  Token token_;
};

}  // namespace rclrt::trace::ctf
