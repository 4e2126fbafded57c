// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>
#include <utility>

namespace rclrt::yaml {
namespace {

constexpr std::size_t kMaxQuotedBytes = 80;

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead < 0xE0) {
    return 2;
  }
  return lead < 0xF0 ? 3 : 4;
}

/// Returns whether a character must be escaped before it is shown to a user: C1 control characters,
/// separators, zero-width characters and marks of the writing direction.
bool is_invisible(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 2) {
    return byte(0) == 0xC2 && byte(1) < 0xA0;
  }
  if (sequence.size() != 3) {
    return false;
  }
  const bool general_punctuation =
      byte(0) == 0xE2 && ((byte(1) == 0x80 && ((byte(2) >= 0x8B && byte(2) <= 0x8F) ||
                                               (byte(2) >= 0xA8 && byte(2) <= 0xAE))) ||
                          (byte(1) == 0x81 && byte(2) >= 0xA0 && byte(2) <= 0xAF));
  return general_punctuation || sequence == "\xEF\xBB\xBF";
}

void append_escaped(std::string& out, std::string_view sequence) {
  for (const char c : sequence) {
    std::array<char, 5> hex{};
    std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned>(c) & 0xFFU);
    out += hex.data();
  }
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic, std::string_view file) {
  return std::string(file) + ":" + std::to_string(diagnostic.line) + ":" +
         std::to_string(diagnostic.column) + ": " + diagnostic.message;
}

void Diagnostics::report(Position at, std::string_view what, std::string_view expected) {
  if (kept_.size() >= kMaxKept) {
    ++not_kept_;
    return;
  }
  std::string message(what);
  message += "; expected ";
  message += expected;
  kept_.push_back({at.line, at.column, std::move(message)});
}

std::vector<Diagnostic> Diagnostics::take() {
  std::stable_sort(kept_.begin(), kept_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (not_kept_ > 0) {
    const Diagnostic last = kept_.back();
    kept_.push_back({last.line, last.column,
                     std::to_string(not_kept_) + " more problems are not shown; expected none"});
  }
  return std::move(kept_);
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  std::size_t at = 0;
  while (at < text.size()) {
    if (at >= kMaxQuotedBytes) {
      out += "...";
      break;
    }
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::string_view sequence = text.substr(at, sequence_length(lead));
    if (lead == '\n') {
      out += "\\n";
    } else if (lead < 0x20 || lead == 0x7F || is_invisible(sequence)) {
      append_escaped(out, sequence);
    } else {
      out += sequence;
    }
    at += sequence.size();
  }
  return out + "'";
}

std::string list_in_quotes(const std::vector<std::string_view>& texts) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) {
      out += i + 1 == texts.size() ? " or " : ", ";
    }
    out += in_quotes(texts[i]);
  }
  return out;
}

std::string line_of(Position at) { return "line " + std::to_string(at.line); }

}  // namespace rclrt::yaml
