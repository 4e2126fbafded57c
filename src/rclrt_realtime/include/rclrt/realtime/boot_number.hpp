// SPDX-License-Identifier: Apache-2.0
// The identity of a machine's clock.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Returns a number of this boot of this machine: the FNV-1a hash (Fowler, Noll, Vo) of the
/// kernel's boot_id, with 64 bits. Containers of one machine share its clocks and this number.
/// Thread-safe.
RCLRT_SETUP inline std::uint64_t boot_number() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char each : id) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace rclrt::realtime
