// SPDX-License-Identifier: Apache-2.0
// A semaphore that a signal handler may post.
#pragma once

#include <semaphore.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime {

/// A POSIX semaphore with the initial value 0. A signal handler may post it.
/// (std::counting_semaphore guarantees nothing for signal handlers.) All functions but the
/// constructor and the destructor are thread-safe.
class Semaphore {
 public:
  RCLRT_SETUP Semaphore() {
    if (sem_init(&semaphore_, 0, 0) != 0) {
      throw_errno("creating a semaphore");
    }
  }
  ~Semaphore() { sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// Adds one and wakes a waiter. Async-signal-safe; keeps errno.
  void post() noexcept RCLRT_NONBLOCKING {
    const int saved = errno;
    RCLRT_TRUST("posting wakes and does not sleep", sem_post(&semaphore_));
    errno = saved;
  }

  void wait() noexcept RCLRT_WAITS {
    while (sem_wait(&semaphore_) != 0) {  // interrupted by a signal handler
    }
  }

  /// Waits until the semaphore is posted, but not beyond `deadline_ns` on CLOCK_MONOTONIC
  /// (INT64_MAX: no deadline). Returns whether it was posted; it is then decremented by one.
  bool wait_until(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
    constexpr std::int64_t kSecond_ns = 1'000'000'000;
    const timespec deadline{.tv_sec = static_cast<time_t>(deadline_ns / kSecond_ns),
                            .tv_nsec = static_cast<long>(deadline_ns % kSecond_ns)};
    int result = 0;
    do {
      result = sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &deadline);
    } while (result != 0 && errno == EINTR);
    return result == 0;
  }

  bool try_wait() noexcept RCLRT_NONBLOCKING {
    return RCLRT_TRUST("trying does not sleep", sem_trywait(&semaphore_)) == 0;
  }

 private:
  sem_t semaphore_;
};

}  // namespace rclrt::realtime
