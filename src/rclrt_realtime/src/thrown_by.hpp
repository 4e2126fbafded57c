// SPDX-License-Identifier: Apache-2.0
// What a sink of the user's threw, as text.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace rclrt::realtime {

/// Calls, and returns the text of what was thrown; std::nullopt if nothing was.
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
