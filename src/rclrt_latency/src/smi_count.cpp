// SPDX-License-Identifier: Apache-2.0
#include "smi_count.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace rclrt::latency {

namespace {

constexpr off_t kSmiCount = 0x34;  // MSR_SMI_COUNT, Intel SDM volume 4; its upper half is reserved

std::optional<std::uint64_t> read_register(const std::filesystem::path& device) {
  const int file = open(device.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  const bool whole = pread(file, &value, sizeof value, kSmiCount) == sizeof value;
  close(file);
  return whole ? std::optional(value & 0xFFFF'FFFFU) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> read_smi_count(std::span<const int> cpus,
                                            const std::filesystem::path& devices) {
  std::optional<std::uint64_t> most;
  for (const int cpu : cpus) {
    const auto count = read_register(devices / std::to_string(cpu) / "msr");
    if (!count) {
      return std::nullopt;
    }
    most = std::max(most.value_or(0), *count);
  }
  return most;
}

}  // namespace rclrt::latency
