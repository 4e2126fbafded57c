// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/condition_variable.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::realtime {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

std::cv_status PiConditionVariable::wait_until_ns(std::unique_lock<PiMutex>& lock,
                                                  std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  timespec deadline{};
  const timespec* timeout = nullptr;
  if (deadline_ns != kNever) {
    deadline = to_timespec(deadline_ns < 0 ? 0 : deadline_ns);
    timeout = &deadline;
  }
  // All of these are relaxed: the mutex orders them, and the kernel compares the word itself.
  const std::uint32_t before = notifications_.load(std::memory_order_relaxed);
  waiters_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  // Woken, already notified or interrupted: the caller checks its condition in every case.
  const bool timed_out =
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&notifications_),
              FUTEX_WAIT_BITSET_PRIVATE, before, timeout, nullptr, FUTEX_BITSET_MATCH_ANY) != 0 &&
      errno == ETIMEDOUT;
  lock.lock();
  waiters_.fetch_sub(1, std::memory_order_relaxed);  // under the mutex, as above
  return timed_out ? std::cv_status::timeout : std::cv_status::no_timeout;
}

void PiConditionVariable::increment_and_wake(int count) noexcept RCLRT_NONBLOCKING {
  // Wakes `count` sleepers of the word after adding 1 to it. FUTEX_WAKE_OP also needs a comparison,
  // which can wake one more thread. It compares with 0, which the word is once in 2^32
  // notifications; that causes one spurious wake-up.
  constexpr std::uint32_t kAddOne = FUTEX_OP(FUTEX_OP_ADD, 1U, FUTEX_OP_CMP_EQ, 0U);
  RCLRT_TRUST(
      "waking others does not sleep",
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&notifications_), FUTEX_WAKE_OP_PRIVATE,
              count, nullptr, reinterpret_cast<std::uint32_t*>(&notifications_), kAddOne));
}

}  // namespace rclrt::realtime
