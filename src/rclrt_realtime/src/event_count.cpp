// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/event_count.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::realtime {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void EventCount::wait_until(Key key, std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  timespec deadline{};
  const timespec* timeout = nullptr;
  if (deadline_ns != kForever) {
    deadline = to_timespec(deadline_ns < 0 ? 0 : deadline_ns);
    timeout = &deadline;
  }
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC timeout. Every outcome (woken, epoch
  // already changed, timed out, interrupted) is a return: the caller checks its condition again.
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&epoch_), FUTEX_WAIT_BITSET_PRIVATE, key,
          timeout, nullptr, FUTEX_BITSET_MATCH_ANY);
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
}

void EventCount::wake(int count) noexcept RCLRT_NONBLOCKING {
  RCLRT_TRUST("waking others does not sleep",
              syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&epoch_), FUTEX_WAKE_PRIVATE,
                      count, nullptr, nullptr, 0));
}

}  // namespace rclrt::realtime
