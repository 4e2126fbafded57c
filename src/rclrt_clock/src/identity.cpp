// SPDX-License-Identifier: Apache-2.0
#include "identity.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>

namespace rclrt::clock {

namespace {

constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

/// Returns the FNV-1a hash of a text (Fowler, Noll, Vo), with 64 bits.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
  }
  return hash;
}

constexpr bool is_part_of_name(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
         (each >= '0' && each <= '9') || each == '.' || each == '_' || each == '-';
}

}  // namespace

bool is_host_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kLongestHost && std::ranges::all_of(name, is_part_of_name);
}

std::string this_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::uint64_t this_boot() {
  std::string id;
  std::ifstream(kBootId) >> id;
  return hash_of(id);
}

std::uint64_t random_session() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

}  // namespace rclrt::clock
