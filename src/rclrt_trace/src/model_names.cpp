// SPDX-License-Identifier: Apache-2.0
// Converts names of ROS into names that the model accepts.
#include <algorithm>
#include <cctype>

#include "model_builder.hpp"

namespace rclrt::trace {

namespace {

// rmw's limits, which are also the model's.
constexpr std::size_t kLongestNode = 255;
/// Length of a shortened name, which leaves room for a number that makes it unique.
constexpr std::size_t kLongestMadeName = 200;

bool is_alphanumeric(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && std::isalnum(byte) != 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the text with the first number behind it that makes it unique.
template <typename Taken>
std::string numbered(const std::string& text, const Taken& is_taken) {
  std::string result = text;
  for (int number = 2; is_taken(result); ++number) {
    result = (text.ends_with('_') ? text : text + "_") + std::to_string(number);
  }
  return result;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kLongestNode && !is_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '_'; }) &&
         text.find("__") == std::string_view::npos;
}

bool is_topic(std::string_view text, std::size_t at_most) {
  if (!text.starts_with('/') || text.size() > at_most) {
    return false;
  }
  for (std::size_t at = 1; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    if (!is_token(text.substr(at, slash - at))) {
      return false;
    }
    at = slash + 1;
  }
  return true;
}

std::string as_token(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_alphanumeric(c)) {
      name += c;
    } else if (!name.ends_with('_')) {
      name += '_';
    }
  }
  if (name.empty() || is_digit(name.front())) {
    name = "n" + name;
  }
  name.resize(std::min(name.size(), kLongestMadeName));
  return name;
}

std::string as_topic(std::string_view text) {
  std::string result;
  for (std::size_t at = text.starts_with('/') ? 1 : 0; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    result += "/" + as_token(text.substr(at, slash - at));
    at = slash + 1;
  }
  result.resize(std::min(result.size(), kLongestMadeName));
  while (result.size() > 1 && result.ends_with('/')) {
    result.pop_back();
  }
  return result;
}

void Names::reserve(std::string_view text) {
  if (is_token(text)) {
    reserved_.emplace(text);
  }
}

std::string Names::unique(std::string_view text) {
  if (is_token(text) && taken_.emplace(text).second) {
    return std::string(text);
  }
  std::string name = as_token(text);
  while (name.size() > 1 && name.ends_with('_')) {
    name.pop_back();
  }
  while (name.size() > 1 && name.starts_with('_')) {
    name = as_token(std::string_view(name).substr(1));
  }
  std::string result = numbered(name, [&](const std::string& made) {
    return taken_.contains(made) || reserved_.contains(made);
  });
  taken_.insert(result);
  return result;
}

void TopicNames::reserve(std::string_view text) {
  if (text == "/" || is_topic(text, at_most_)) {
    names_.emplace(text, text);
    taken_.emplace(text);
  }
}

const std::string& TopicNames::name(std::string_view text) {
  if (const auto known = names_.find(text); known != names_.end()) {
    return known->second;
  }
  std::string result =
      numbered(as_topic(text), [&](const std::string& made) { return taken_.contains(made); });
  taken_.insert(result);
  return names_.emplace(text, std::move(result)).first->second;
}

}  // namespace rclrt::trace
