// SPDX-License-Identifier: Apache-2.0
// The numbers and names by which hosts are distinguished.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rclrt::clock {

/// The longest name of a host.
inline constexpr std::size_t kLongestHost = 64;

/// Returns whether a name of a host has 1 to 64 letters, digits, '.', '_' and '-'.
bool is_host_name(std::string_view name) noexcept;

/// Returns the name of this host, or of its container.
std::string this_host();

/// Returns a random number for this process.
std::uint64_t random_session();

}  // namespace rclrt::clock
