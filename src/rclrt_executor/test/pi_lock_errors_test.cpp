// SPDX-License-Identifier: Apache-2.0
// The kernel refuses a lock for a while: it has no memory, or the owner's thread is ending.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>

#include "pi_lock.hpp"
#include "rclrt/realtime/thread.hpp"
#include "spinning.hpp"

namespace {

std::atomic<int> refusals{0};  // number of next calls that fail
std::atomic<int> refusal{0};   // with this error

}  // namespace

/// Replaces the function of the C library.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  static const auto kReal = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) {
    argument = va_arg(list, long);
  }
  va_end(list);
  const auto operation = static_cast<int>(arguments[1]);
  const bool locks = operation == FUTEX_LOCK_PI_PRIVATE || operation == FUTEX_UNLOCK_PI_PRIVATE;
  if (number == SYS_futex && locks && refusals.load() > 0) {
    --refusals;
    errno = refusal.load();
    return -1;
  }
  return kReal(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
               arguments[5]);
}

namespace rclrt::executor::test {
namespace {

class PiLockRefused : public testing::TestWithParam<int> {};

TEST_P(PiLockRefused, IsTriedAgainUntilTheLockIsHad) {
  PiLock lock;
  std::atomic<bool> locked{false};
  std::unique_lock held(lock);
  ::refusal = GetParam();
  refusals = 20;
  realtime::Thread waiter({.name = "waits"}, [&] {
    const std::scoped_lock own(lock);
    locked = true;
  });
  EXPECT_TRUE(eventually([] { return refusals == 0; }));
  EXPECT_FALSE(locked);
  held.unlock();
  waiter.join();
  EXPECT_TRUE(locked);
}

TEST_P(PiLockRefused, IsGivenAwayInTheEnd) {
  PiLock lock;
  std::unique_lock held(lock);
  realtime::Thread waiter({.name = "waits"}, [&] { const std::scoped_lock own(lock); });
  // The kernel sets the flag for waiting threads: `unlock` then makes the system call that hands
  // the lock over.
  EXPECT_TRUE(eventually([&] {
    return (reinterpret_cast<const std::atomic<std::uint32_t>&>(lock).load() & FUTEX_WAITERS) != 0;
  }));
  ::refusal = GetParam();
  refusals = 3;
  held.unlock();
  EXPECT_EQ(refusals, 0);
  waiter.join();
}

INSTANTIATE_TEST_SUITE_P(Errors, PiLockRefused, testing::Values(ENOMEM, EAGAIN, EINTR));

}  // namespace
}  // namespace rclrt::executor::test
