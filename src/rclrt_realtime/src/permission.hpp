// SPDX-License-Identifier: Apache-2.0
// The kernel's permissions of this process, and the settings that permit more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rclrt::realtime {

/// A capability by its number in the kernel.
enum class Capability : unsigned { kIpcLock = 14, kSysNice = 23 };

/// Returns whether the calling thread has a capability. In another user namespace than the initial
/// one, the kernel may still refuse the operations that the capability normally permits.
bool has_capability(Capability capability);

/// Returns the number after `key` ("VmStk:") in /proc/thread-self/status; std::nullopt without one.
std::optional<std::uint64_t> number_in_status(std::string_view key, int base = 10);

/// Returns a number of bytes as text: "64 KiB", "8 MiB", "1000 bytes". It uses the largest unit
/// that divides the number; a number above 16 MiB is rounded up to MiB.
std::string bytes_text(std::uint64_t bytes);

/// Returns the ways to raise a limit: an entry of limits.d, a setting of a systemd unit, an option
/// of a container, or a capability. The user chooses the one for the way in which the program is
/// started.
std::string fix_by_limit(const std::string& entry, const std::string& unit,
                         const std::string& container, const std::string& capability);

}  // namespace rclrt::realtime
