// SPDX-License-Identifier: Apache-2.0
// The number of interrupts of a CPU by the firmware, as turbostat reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace rclrt::latency {

/// Returns the number of system management interrupts since the machine started, from the CPU that
/// has the most. Returns std::nullopt if it cannot be read: the CPU is not from Intel, the module
/// `msr` is not loaded, the user is not root, or the machine is virtual. `devices` is the directory
/// with NUMBER/msr for each CPU.
std::optional<std::uint64_t> read_smi_count(std::span<const int> cpus,
                                            const std::filesystem::path& devices = "/dev/cpu");

}  // namespace rclrt::latency
