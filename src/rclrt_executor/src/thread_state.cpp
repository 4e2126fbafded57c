// SPDX-License-Identifier: Apache-2.0
#include "thread_state.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace rclrt::executor {

int this_thread_number() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("asking for it does not sleep", static_cast<int>(syscall(SYS_gettid)));
}

std::int64_t cpu_time_of_ns(int thread) noexcept RCLRT_NONBLOCKING {
  // The clock ID in the encoding of pthread_getcpuclockid(3), made from the thread ID.
  constexpr int kPerThread = 4;
  constexpr int kSchedulerTime = 2;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) |
                                            static_cast<unsigned>(kPerThread | kSchedulerTime));
  timespec time{};
  const bool is_known = RCLRT_TRUST("reading a clock", clock_gettime(clock, &time)) == 0;
  return is_known ? time.tv_sec * 1'000'000'000 + time.tv_nsec : -1;
}

bool is_asleep(int thread) noexcept RCLRT_WAITS {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", thread);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return true;
  }
  std::array<char, 128> text{};  // "42 (name of at most 15) S 1 ..."
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  const std::string_view line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) {
    return true;
  }
  const char state = line[name_end + 2];
  return state == 'S' || state == 'D';
}

}  // namespace rclrt::executor
