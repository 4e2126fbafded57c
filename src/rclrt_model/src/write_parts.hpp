// SPDX-License-Identifier: Apache-2.0
// The values of an app.yaml as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::model::detail {

/// Returns the time as decimal milliseconds without trailing zeros.
std::string ms(Nanoseconds time);

/// Returns the text in double quotes for YAML, with escapes for characters that YAML refuses or
/// treats as a line break.
std::string in_double_quotes(std::string_view text);

/// Returns a name or topic; in quotes if YAML would read it as another type.
std::string name(const std::string& text);

/// Returns a list of CPUs with its key, after a comma; empty text for an empty list.
std::string cpus(const std::vector<int>& items, const std::string& key = "cpus");

/// Returns the sections `hosts` and `links`; empty text for an application without hosts.
std::string hosts_and_links(const Application& application);

template <typename T, typename Text>
std::string list(const std::vector<T>& items, Text text) {
  std::string result = "[";
  for (const T& item : items) {
    result += (result.size() == 1 ? "" : ", ") + text(item);
  }
  return result + "]";
}

/// Returns a section of the file with one line for each entry; empty text without entries.
template <typename T, typename Text>
std::string section(const char* key, const std::vector<T>& items, Text text) {
  if (items.empty()) {
    return "";
  }
  std::string result = std::string(key) + ":\n";
  for (const T& item : items) {
    const std::string entry = text(item);
    if (!entry.empty()) {
      result += "  - " + entry + "\n";
    }
  }
  return result;
}

}  // namespace rclrt::model::detail
