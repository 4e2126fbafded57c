// SPDX-License-Identifier: Apache-2.0
#include "permission.hpp"

#include <unistd.h>

#include <algorithm>
#include <rclrt/text/number.hpp>

#include "proc_task.hpp"

namespace rclrt::realtime {

bool has_capability(Capability capability) {
  const std::uint64_t effective = number_in_status("CapEff:", 16).value_or(0);
  return (effective >> static_cast<unsigned>(capability) & 1U) != 0;
}

std::optional<std::uint64_t> number_in_status(std::string_view key, int base) {
  const std::string status = read_task_file(gettid(), "status");
  std::string_view rest = status;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.starts_with(key)) {
      continue;
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t", key.size()), line.size()));
    return text::take_number<std::uint64_t>(line, base);
  }
  return std::nullopt;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKib = 1024;
  constexpr std::uint64_t kMib = kKib * kKib;
  if (bytes >= 16 * kMib || (bytes != 0 && bytes % kMib == 0)) {
    return std::to_string(bytes / kMib + (bytes % kMib != 0 ? 1 : 0)) + " MiB";
  }
  return bytes != 0 && bytes % kKib == 0 ? std::to_string(bytes / kKib) + " KiB"
                                         : std::to_string(bytes) + " bytes";
}

std::string fix_by_limit(const std::string& entry, const std::string& unit,
                         const std::string& container, const std::string& capability) {
  return "add \"" + entry + "\" for this user in /etc/security/limits.d and log in again (" + unit +
         " in a systemd unit, " + container + " for a container), or run with " + capability;
}

}  // namespace rclrt::realtime
