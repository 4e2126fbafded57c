// SPDX-License-Identifier: Apache-2.0
// The identity of a machine's clock.
#pragma once

#include <sys/utsname.h>

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

/// Returns the number of this boot of this machine, from the boot_id in the kernel's file.
/// Containers of one machine share its clocks and this number. Without a boot_id, as in some
/// sandboxes, it is the number of the host's name, so that machines of different names are not
/// taken for one. Thread-safe.
RCLRT_SETUP inline std::uint64_t boot_number_of_file(const char* file) {
  std::string id;
  std::ifstream(file) >> id;
  utsname names{};
  return boot_number(id.empty() && ::uname(&names) == 0 ? names.nodename : std::string_view(id));
}

/// Returns the same from the file of this kernel. Thread-safe.
RCLRT_SETUP inline std::uint64_t boot_number() {
  return boot_number_of_file("/proc/sys/kernel/random/boot_id");
}

}  // namespace rclrt::realtime
