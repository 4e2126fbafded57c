// SPDX-License-Identifier: Apache-2.0
#include "identity.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

namespace rclrt::clock {

namespace {

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

std::uint64_t random_session() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

}  // namespace rclrt::clock
