// SPDX-License-Identifier: Apache-2.0
// The exception of a user's sink, as text.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace rclrt::realtime {

/// Calls the function and returns the text of its exception; std::nullopt if it throws nothing.
template <typename Call>
std::optional<std::string> thrown_by(Call&& call) {
  try {
    call();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace rclrt::realtime
