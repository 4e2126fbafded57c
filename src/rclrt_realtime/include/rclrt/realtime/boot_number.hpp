// SPDX-License-Identifier: Apache-2.0
// The identity of a machine's clock.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Returns the number of the boot with this boot_id: its FNV-1a hash (Fowler, Noll, Vo) with 64
/// bits. Thread-safe.
RCLRT_SETUP inline std::uint64_t boot_number(std::string_view boot_id) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char each : boot_id) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
  }
  return hash;
}

/// Returns the number of this boot of this machine, from the kernel's boot_id. Containers of one
/// machine share its clocks and this number. Thread-safe.
RCLRT_SETUP inline std::uint64_t boot_number() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return boot_number(id);
}

}  // namespace rclrt::realtime
