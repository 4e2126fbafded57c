// SPDX-License-Identifier: Apache-2.0
#include "run_delay.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <rclrt/text/number.hpp>

namespace rclrt::recorder {

std::optional<std::int64_t> parse_run_delay_ns(std::string_view schedstat) noexcept {
  // time on the CPU, time ready, number of time slices
  const std::size_t space = schedstat.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = schedstat.substr(space + 1);
  const auto value = text::take_number<std::int64_t>(rest);
  return rest.starts_with(' ') ? value : std::nullopt;
}

RunDelay::RunDelay() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  last_ns_ = read_ns().value_or(0);
}

RunDelay::~RunDelay() {
  if (file_ >= 0) {
    close(file_);
  }
}

std::int64_t RunDelay::added_ns() noexcept {
  const std::int64_t now_ns = read_ns().value_or(last_ns_);
  const std::int64_t added = now_ns - last_ns_;
  last_ns_ = now_ns;
  return added;
}

std::optional<std::int64_t> RunDelay::read_ns() const noexcept {
  std::array<char, 96> text{};
  const ssize_t size = file_ >= 0 ? pread(file_, text.data(), text.size(), 0) : -1;
  return size > 0 ? parse_run_delay_ns({text.data(), static_cast<std::size_t>(size)})
                  : std::nullopt;
}

}  // namespace rclrt::recorder
