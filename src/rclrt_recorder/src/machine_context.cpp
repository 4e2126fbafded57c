// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/machine_context.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace rclrt::recorder {

namespace {

/// Returns the text; empty if there is no such file.
std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

std::string parse_cpu_model(std::string_view cpuinfo) {
  // x86 has "model name"; Arm boards have "Model" or "Hardware", or no name at all.
  for (const std::string_view key : {"model name", "Model", "Hardware"}) {
    std::istringstream lines{std::string(cpuinfo)};
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) {
        return std::string(trimmed(std::string_view(line).substr(colon + 1)));
      }
    }
  }
  return {};
}

std::optional<std::uint64_t> parse_steal_ticks(std::string_view stat) {
  // cpu user nice system idle iowait irq softirq steal ...
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  words >> name;
  std::uint64_t value = 0;
  constexpr int kStealColumn = 8;
  for (int column = 0; column < kStealColumn; ++column) {
    words >> value;
  }
  return words && name == "cpu" ? std::optional(value) : std::nullopt;
}

bool is_preempt_rt(std::string_view realtime_file, std::string_view kernel_version) {
  return trimmed(realtime_file) == "1" ||
         kernel_version.find("PREEMPT_RT") != std::string_view::npos ||
         kernel_version.find("PREEMPT RT") != std::string_view::npos;
}

MachineContext read_machine_context() {
  utsname names{};
  uname(&names);
  std::string model = parse_cpu_model(read_text("/proc/cpuinfo"));
  if (model.empty()) {
    model = names.machine;
  }
  return {.kernel = std::string(names.release) + " " + names.version,
          .cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)),
          .cpu_model = model,
          .preempt_rt = is_preempt_rt(read_text("/sys/kernel/realtime"), names.version)};
}

std::optional<double> read_steal_ms() {
  const auto ticks = parse_steal_ticks(read_text("/proc/stat"));
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (!ticks || ticks_per_second <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(*ticks) * 1000.0 / static_cast<double>(ticks_per_second);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, sizeof "2026-01-02T03:04:05Z"> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

bool memory_is_locked() {
  std::ifstream status("/proc/self/status");
  long locked_kb = 0;
  long resident_kb = 0;
  for (std::string name; status >> name; status.ignore(INT_MAX, '\n')) {
    if (name == "VmLck:") {
      status >> locked_kb;
    } else if (name == "VmRSS:") {
      status >> resident_kb;
    }
  }
  // The kernel's own pages in the process, such as the vDSO, are resident and not locked.
  return locked_kb > 0 && locked_kb >= resident_kb - resident_kb / 8;
}

std::string ros_distro() {
  const char* const distro = std::getenv("ROS_DISTRO");
  return distro != nullptr ? distro : "unknown";
}

}  // namespace rclrt::recorder
