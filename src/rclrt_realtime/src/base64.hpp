// SPDX-License-Identifier: Apache-2.0
// Base64 encoding and decoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rclrt::realtime {

/// Encodes as RFC 4648, section 4: with padding, without line breaks.
std::string to_base64(const std::vector<std::uint8_t>& bytes);

/// Decodes `text`. Returns std::nullopt if it is not base64 as `to_base64` writes it.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace rclrt::realtime
