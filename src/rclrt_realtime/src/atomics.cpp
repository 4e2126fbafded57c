// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/atomics.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::realtime {

namespace {
static_assert(sizeof(StdAtomics::Futex) == sizeof(std::uint32_t));

/// The kernel takes the futex as a plain number.
const std::uint32_t* address_of(const StdAtomics::Futex& word) noexcept RCLRT_NONBLOCKING {
  return reinterpret_cast<const std::uint32_t*>(&word);
}
}  // namespace

[[gnu::hot]] void StdAtomics::wait_while(const Futex& word, std::uint32_t value,
                                         std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  timespec deadline{};
  const timespec* timeout = nullptr;
  if (deadline_ns != EventCount::kForever) {
    deadline = to_timespec(deadline_ns < 0 ? 0 : deadline_ns);
    timeout = &deadline;
  }
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC timeout.
  syscall(SYS_futex, address_of(word), FUTEX_WAIT_BITSET_PRIVATE, value, timeout, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

[[gnu::hot]] int StdAtomics::wake(const Futex& word, int count) noexcept RCLRT_NONBLOCKING {
  return static_cast<int>(RCLRT_TRUST(
      "waking others does not sleep",
      syscall(SYS_futex, address_of(word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0)));
}

}  // namespace rclrt::realtime
