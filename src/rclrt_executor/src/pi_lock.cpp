// SPDX-License-Identifier: Apache-2.0
#include "pi_lock.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

int futex(std::atomic<std::uint32_t>& word, int operation) noexcept {
  // The kernel accesses it as a plain integer.
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, 0, nullptr, nullptr,
                 0) == 0
             ? 0
             : errno;
}

[[noreturn]] void die(const char* action, int error) noexcept {
  std::fprintf(stderr, "rclrt: %s a lane: %s\n", action, std::strerror(error));
  std::abort();
}

constexpr std::int64_t kRetryNs = 50'000;

/// Returns whether the error of a futex call is temporary, so that the caller must only try again.
/// ENOMEM: the kernel had no memory for the owner's state. EAGAIN: the owner's thread is ending.
/// The users of the lock cannot handle a failure, so they try until locking succeeds.
bool is_transient(int error) noexcept {
  return error == EINTR || error == EAGAIN || error == ENOMEM;
}

}  // namespace

constinit thread_local std::uint32_t PiLock::number_ = 0;

PiLock::PiLock() {
  // In the child, the thread that forks has another ID.
  [[maybe_unused]] static const int kRegistered =
      pthread_atfork(nullptr, nullptr, [] { number_ = 0; });
}

std::uint32_t PiLock::ask_number() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("asking for it does not sleep; a constant-initialised variable of the thread",
                     number_ = static_cast<std::uint32_t>(syscall(SYS_gettid)));
}

void PiLock::wait() noexcept RCLRT_WAITS {
  int error = futex(word_, FUTEX_LOCK_PI_PRIVATE);
  while (is_transient(error)) {
    if (error != EINTR) {
      // Waits before the retry: the owner may be less urgent and need this CPU to go on.
      realtime::sleep_until_ns(realtime::monotonic_now_ns() + kRetryNs);
    }
    error = futex(word_, FUTEX_LOCK_PI_PRIVATE);
  }
  if (error != 0) {
    die("locking", error);
  }
  word_.load(std::memory_order_acquire);  // the kernel wrote it: see hand_over
}

void PiLock::hand_over() noexcept RCLRT_NONBLOCKING {
  // The kernel hands over the lock. C++ sees no release operation in that.
  word_.fetch_or(0, std::memory_order_release);
  int error = 0;
  do {
    error = RCLRT_TRUST("unlocking a futex does not sleep", futex(word_, FUTEX_UNLOCK_PI_PRIVATE));
  } while (RCLRT_TRUST("only compares", is_transient(error)));
  if (error != 0) {
    RCLRT_TRUST("the process ends here", die("unlocking", error));
  }
}

}  // namespace rclrt::executor
