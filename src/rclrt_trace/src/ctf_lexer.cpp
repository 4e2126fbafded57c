// SPDX-License-Identifier: Apache-2.0
#include "ctf_lexer.hpp"

#include <algorithm>
#include <rclrt/text/number.hpp>
#include <utility>

namespace rclrt::trace::ctf {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Lexer::fail(const std::string& what) const {
  // The quoted text may contain any character.
  std::string text = what;
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  throw MetadataError("line " + std::to_string(token_.line) + ": " + text);
}

void Lexer::skip_space() {
  for (;;) {
    if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      if (end == std::string_view::npos) {
        token_.line = line_;
        fail("a comment without an end");
      }
      const std::string_view comment = rest_.substr(0, end);
      line_ += static_cast<int>(std::ranges::count(comment, '\n'));
      rest_.remove_prefix(end + 2);
    } else if (rest_.starts_with("//")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else if (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' ||
                                  rest_.front() == '\r' || rest_.front() == '\n')) {
      line_ += rest_.front() == '\n' ? 1 : 0;
      rest_.remove_prefix(1);
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_space();
  token_ = {.kind = TokenKind::kEnd, .text = "the end", .number = 0, .line = line_};
  if (rest_.empty()) {
    return;
  }
  const char first = rest_.front();
  std::size_t size = 1;
  if (is_letter(first)) {
    token_.kind = TokenKind::kWord;
    while (size < rest_.size() && (is_letter(rest_[size]) || is_digit(rest_[size]))) {
      ++size;
    }
  } else if (is_digit(first) || (first == '-' && rest_.size() > 1 && is_digit(rest_[1]))) {
    token_.kind = TokenKind::kNumber;
    while (size < rest_.size() && (is_letter(rest_[size]) || is_digit(rest_[size]))) {
      ++size;
    }
    std::string_view digits = rest_.substr(0, size);
    const bool negative = digits.starts_with('-');
    digits.remove_prefix(negative ? 1 : 0);
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    digits.remove_prefix(hexadecimal ? 2 : 0);
    while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'U' ||
                               digits.back() == 'l' || digits.back() == 'L')) {
      digits.remove_suffix(1);
    }
    const bool octal = !hexadecimal && digits.size() > 1 && digits.front() == '0';
    const auto magnitude =
        text::parse_number<std::uint64_t>(digits, {}, hexadecimal ? 16 : (octal ? 8 : 10));
    if (!magnitude) {
      fail("'" + std::string(rest_.substr(0, size)) + "' is no number");
    }
    token_.number = static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
  } else if (first == '"') {
    token_.kind = TokenKind::kText;
    while (size < rest_.size() && rest_[size] != '"') {
      size += rest_[size] == '\\' && size + 1 < rest_.size() ? 2 : 1;
    }
    if (size >= rest_.size()) {
      fail("a text without an end");
    }
    token_.text = rest_.substr(1, size - 1);
    line_ += static_cast<int>(std::ranges::count(token_.text, '\n'));
    rest_.remove_prefix(size + 1);
    return;
  } else {
    token_.kind = TokenKind::kSign;
    size = rest_.starts_with(":=") ? 2 : rest_.starts_with("...") ? 3 : 1;
  }
  token_.text = rest_.substr(0, size);
  rest_.remove_prefix(size);
}

Token Lexer::take() {
  Token taken = std::exchange(token_, {});
  token_.line = taken.line;
  advance();
  return taken;
}

bool Lexer::take_if(std::string_view sign) {
  if (token_.kind != TokenKind::kSign || token_.text != sign) {
    return false;
  }
  advance();
  return true;
}

void Lexer::expect(std::string_view sign) {
  if (!take_if(sign)) {
    fail("'" + token_.text + "'; expected '" + std::string(sign) + "'");
  }
}

std::string Lexer::expect_word() {
  if (token_.kind != TokenKind::kWord) {
    fail("'" + token_.text + "'; expected a name");
  }
  return take().text;
}

}  // namespace rclrt::trace::ctf
