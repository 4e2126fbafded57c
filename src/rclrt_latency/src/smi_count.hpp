// SPDX-License-Identifier: Apache-2.0
// The number of interrupts of a CPU by the firmware, as turbostat reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace rclrt::latency {

/// Returns the number of system management interrupts since the machine started, of the CPU with
/// the most; std::nullopt if it cannot be read: not an Intel CPU, no `msr` module, not root, or a
/// virtual machine. `devices`: where NUMBER/msr is.
std::optional<std::uint64_t> read_smi_count(std::span<const int> cpus,
                                            const std::filesystem::path& devices = "/dev/cpu");

}  // namespace rclrt::latency
