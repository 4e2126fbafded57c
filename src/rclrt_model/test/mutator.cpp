// SPDX-License-Identifier: Apache-2.0
#include "mutator.hpp"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace rclrt::model::test {
namespace {

constexpr std::size_t kMaxText = 64 * 1024;
constexpr std::string_view kTokenEnds = " \n,[]{}:'\"";

constexpr std::array<std::string_view, 48> kTokens = {"rclrt: 1",
                                                      "nodes:",
                                                      "callbacks:",
                                                      "chains:",
                                                      "topics:",
                                                      "executors:",
                                                      "threads:",
                                                      "id",
                                                      "node",
                                                      "timer",
                                                      "sync",
                                                      "wcet_ms",
                                                      "publishes",
                                                      "priority",
                                                      "policy",
                                                      "exact",
                                                      "approximate",
                                                      "window_ms",
                                                      "depth",
                                                      "[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      ",",
                                                      ": ",
                                                      "- ",
                                                      "\n",
                                                      "\t",
                                                      "&a ",
                                                      "*a",
                                                      "!!str ",
                                                      "---\n",
                                                      "...\n",
                                                      "|\n",
                                                      "? ",
                                                      "<<: ",
                                                      "\"",
                                                      "'",
                                                      "#",
                                                      "%YAML 1.1\n---\n",
                                                      "~",
                                                      "null",
                                                      "-1",
                                                      "1.0000001",
                                                      "\xEF\xBB\xBF",
                                                      "\xC3",
                                                      "\xE2\x80\xA8",
                                                      "\\x00"};

constexpr std::array<std::string_view, 12> kNumbers = {"0",
                                                       "-0",
                                                       "1",
                                                       "99999999999999999999",
                                                       "9223372036854775807",
                                                       "-9223372036854775808",
                                                       "0.0000001",
                                                       "1e9",
                                                       ".inf",
                                                       ".nan",
                                                       "3600000",
                                                       "3600000.000001"};

/// Returns the first index and the last + 1 of the token around a place.
std::pair<std::size_t, std::size_t> token_at(const std::string& text, std::size_t at) {
  const std::size_t before = text.find_last_of(kTokenEnds, at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = text.find_first_of(kTokenEnds, begin);
  return {begin, end == std::string::npos ? text.size() : end};
}

/// Returns the line around a place, with its end.
std::pair<std::size_t, std::size_t> line_at(const std::string& text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t end = text.find('\n', at);
  return {before == std::string::npos ? 0 : before + 1,
          end == std::string::npos ? text.size() : end + 1};
}

unsigned long from_environment(const char* name, unsigned long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

}  // namespace

unsigned long fuzz_iterations(unsigned long otherwise) {
  return from_environment("RCLRT_FUZZ_ITERATIONS", otherwise);
}

unsigned fuzz_seed() { return static_cast<unsigned>(from_environment("RCLRT_FUZZ_SEED", 1)); }

Mutator::Mutator(std::vector<std::string> corpus, unsigned seed)
    : corpus_(std::move(corpus)), random_(seed) {}

std::string Mutator::next() {
  // Half of the texts get only changes that mostly leave valid YAML, to reach the code after the
  // YAML parser.
  constexpr std::size_t kGentle = 5;
  constexpr std::size_t kAll = 11;
  const std::size_t kinds = below(2) == 0 ? kGentle : kAll;
  std::string text = any_text();
  for (std::size_t count = 1 + below(6); count > 0; --count) {
    if (text.empty()) {
      text = any_text();
    }
    mutate(text, below(kinds));
    if (text.size() > kMaxText) {
      text.resize(kMaxText);
    }
  }
  return text;
}

void Mutator::mutate(std::string& text, std::size_t kind) {
  switch (kind) {
    case 0:
      return swap_tokens(text);
    case 1:
      return replace_token(text);
    case 2:
      return change_number(text);
    case 3:
      return repeat_line(text);
    case 4:
      return remove_line(text);
    case 5:
      return flip_bytes(text);
    case 6:
      return splice(text);
    case 7:
      return insert_token(text);
    case 8:
      return nest(text);
    case 9:
      return remove_part(text);
    default:
      return repeat_part(text);
  }
}

void Mutator::flip_bytes(std::string& text) {
  for (std::size_t count = 1 + below(4); count > 0; --count) {
    text[below(text.size())] = static_cast<char>(below(256));
  }
}

/// Joins the beginning of this text and the end of another.
void Mutator::splice(std::string& text) {
  const std::string& other = any_text();
  text.resize(below(text.size() + 1));
  text += other.substr(below(other.size() + 1));
}

void Mutator::swap_tokens(std::string& text) {
  auto first = token_at(text, below(text.size()));
  auto second = token_at(text, below(text.size()));
  if (first > second) {
    std::swap(first, second);
  }
  if (first.second > second.first) {
    return;
  }
  const std::string a = text.substr(first.first, first.second - first.first);
  const std::string b = text.substr(second.first, second.second - second.first);
  text.replace(second.first, b.size(), a);
  text.replace(first.first, a.size(), b);
}

/// Replaces a token of this text by one of another text.
void Mutator::replace_token(std::string& text) {
  const std::string& other = any_text();
  const auto [from, to] = token_at(other, below(other.size()));
  const auto [begin, end] = token_at(text, below(text.size()));
  text.replace(begin, end - begin, other.substr(from, to - from));
}

void Mutator::repeat_line(std::string& text) {
  const auto [begin, end] = line_at(text, below(text.size()));
  text.insert(begin, text.substr(begin, end - begin));
}

void Mutator::remove_line(std::string& text) {
  const auto [begin, end] = line_at(text, below(text.size()));
  text.erase(begin, end - begin);
}

void Mutator::insert_token(std::string& text) {
  text.insert(below(text.size() + 1), kTokens[below(kTokens.size())]);
}

void Mutator::nest(std::string& text) {
  constexpr std::array<std::string_view, 4> kOpeners = {"[", "{a: ", "- ", "? "};
  const std::string_view opener = kOpeners[below(kOpeners.size())];
  std::string nesting;
  for (std::size_t depth = 1 + below(200); depth > 0; --depth) {
    nesting += opener;
  }
  text.insert(below(text.size() + 1), nesting);
}

void Mutator::remove_part(std::string& text) {
  const std::size_t begin = below(text.size());
  text.erase(begin, 1 + below(40));
}

void Mutator::repeat_part(std::string& text) {
  const std::size_t begin = below(text.size());
  const std::string part = text.substr(begin, 1 + below(120));
  for (std::size_t count = 1 + below(6); count > 0; --count) {
    text.insert(begin, part);
  }
}

void Mutator::change_number(std::string& text) {
  const std::size_t digit = text.find_first_of("0123456789", below(text.size()));
  if (digit == std::string::npos) {
    return;
  }
  const auto [begin, end] = token_at(text, digit);
  text.replace(begin, end - begin, kNumbers[below(kNumbers.size())]);
}

}  // namespace rclrt::model::test
