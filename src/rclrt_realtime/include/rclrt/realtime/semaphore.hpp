// SPDX-License-Identifier: Apache-2.0
// What a signal handler may post.
#pragma once

#include <semaphore.h>

#include <cerrno>
#include <system_error>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A POSIX semaphore: what a signal handler may post. (std::counting_semaphore promises nothing
/// about signal handlers.) All functions but the first two are thread-safe.
class Semaphore {
 public:
  RCLRT_SETUP Semaphore() {
    if (sem_init(&semaphore_, 0, 0) != 0) {
      throw std::system_error(errno, std::generic_category(), "creating a semaphore");
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

  bool try_wait() noexcept RCLRT_NONBLOCKING {
    return RCLRT_TRUST("trying does not sleep", sem_trywait(&semaphore_)) == 0;
  }

 private:
  sem_t semaphore_;
};

}  // namespace rclrt::realtime
