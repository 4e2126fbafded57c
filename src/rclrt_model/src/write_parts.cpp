// SPDX-License-Identifier: Apache-2.0
#include "write_parts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace rclrt::model::detail {

std::string ms(Nanoseconds time) {
  constexpr std::int64_t kMillion = 1'000'000;
  std::string text = std::to_string(time.count() / kMillion);
  std::string decimals = std::to_string(kMillion + time.count() % kMillion).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return decimals.empty() ? text : text + "." + decimals;
}

std::string in_double_quotes(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kBreaks{
      {{"\xE2\x80\xA8", "\\L"}, {"\xE2\x80\xA9", "\\P"}, {"\xEF\xBB\xBF", "\\uFEFF"}}};
  std::string result = "\"";
  const auto escape = [&](unsigned value) {
    result += "\\x";
    result += kDigits[value / 16];
    result += kDigits[value % 16];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto* const found = std::ranges::find_if(
        kBreaks, [&](const auto& each) { return text.substr(i).starts_with(each.first); });
    if (found != kBreaks.end()) {
      result += found->second;
      i += found->first.size() - 1;
    } else if (byte == 0xC2 && i + 1 < text.size() &&
               static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      escape(static_cast<unsigned char>(text[++i]));
    } else if (byte < 0x20 || byte == 0x7F) {
      escape(byte);
    } else {
      if (byte == '"' || byte == '\\') {
        result += '\\';
      }
      result += text[i];
    }
  }
  return result + "\"";
}

std::string name(const std::string& text) {
  constexpr std::array<std::string_view, 9> kWords{"y",     "n",  "yes", "no",  "true",
                                                   "false", "on", "off", "null"};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kWords, lower) != kWords.end() ? in_double_quotes(text) : text;
}

std::string cpus(const std::vector<int>& items, const std::string& key) {
  return items.empty()
             ? ""
             : ", " + key + ": " + list(items, [](int cpu) { return std::to_string(cpu); });
}

}  // namespace rclrt::model::detail
