// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/mutex.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime::detail {

namespace {
void require(int error, const char* action) {
  if (error != 0) {
    throw_errno(action, error);
  }
}

[[noreturn]] void die(const char* action, int error) noexcept {
  std::fprintf(stderr, "rclrt: %s: %s\n", action, std::strerror(error));
  std::abort();
}

/// Locks on kernels that cannot wait for a PI mutex on CLOCK_MONOTONIC.
int lock_on_realtime_clock(pthread_mutex_t& mutex, std::int64_t deadline_ns) noexcept {
  for (;;) {
    // Waits for at most a year at a time, so that the sum does not overflow, even for kNever.
    const std::int64_t left_ns =
        std::min(deadline_ns - monotonic_now_ns(), 365 * 24 * 3600 * kNanosecondsPerSecond);
    const timespec deadline = to_timespec(read_clock_ns(CLOCK_REALTIME) + left_ns);
    const int error = pthread_mutex_timedlock(&mutex, &deadline);
    if (error != ETIMEDOUT || monotonic_now_ns() >= deadline_ns) {
      return error;
    }
  }
}
}  // namespace

ProtocolMutex::ProtocolMutex(int protocol, int ceiling, bool robust) {
  pthread_mutexattr_t attributes;
  require(pthread_mutexattr_init(&attributes), "mutex attributes");
  int error = pthread_mutexattr_setprotocol(&attributes, protocol);
  if (error == 0) {
    error = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  }
  if (error == 0 && protocol == PTHREAD_PRIO_PROTECT) {
    error = pthread_mutexattr_setprioceiling(&attributes, ceiling);
  }
  if (error == 0 && robust) {
    error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  }
  if (error == 0) {
    error = pthread_mutex_init(&mutex_, &attributes);
  }
  pthread_mutexattr_destroy(&attributes);
  require(error, "creating a mutex with a priority protocol");
}

ProtocolMutex::~ProtocolMutex() { pthread_mutex_destroy(&mutex_); }

bool ProtocolMutex::acquired(int error) noexcept RCLRT_NONBLOCKING {
  if (error == EOWNERDEAD) {
    RCLRT_TRUST("writes into the mutex", pthread_mutex_consistent(&mutex_));
    owner_died_ = true;
    return true;
  }
  return error == 0;
}

void ProtocolMutex::lock() noexcept RCLRT_WAITS {
  if (const int error = pthread_mutex_lock(&mutex_); !acquired(error)) {
    die("locking a mutex", error);
  }
}

bool ProtocolMutex::try_lock() noexcept RCLRT_NONBLOCKING {
  const int error = RCLRT_TRUST("trying does not sleep", pthread_mutex_trylock(&mutex_));
  if (!acquired(error) && error != EBUSY) {
    RCLRT_TRUST("the process ends here", die("trying to lock a mutex", error));
  }
  return error != EBUSY;
}

bool ProtocolMutex::try_lock_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  deadline_ns = std::max<std::int64_t>(deadline_ns, 0);
  [[maybe_unused]] const timespec deadline = to_timespec(deadline_ns);
#if defined(__SANITIZE_THREAD__)
  int error = EINVAL;  // GCC 12's ThreadSanitizer does not know pthread_mutex_clocklock
#else
  int error = pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &deadline);
#endif
  if (error == EINVAL) {
    error = lock_on_realtime_clock(mutex_, deadline_ns);
  }
  if (!acquired(error) && error != ETIMEDOUT) {
    die("locking a mutex with a deadline", error);
  }
  return error != ETIMEDOUT;
}

void ProtocolMutex::unlock() noexcept RCLRT_NONBLOCKING {
  const int error = RCLRT_TRUST("unlocking a futex does not sleep", pthread_mutex_unlock(&mutex_));
  if (error != 0) {
    RCLRT_TRUST("the process ends here", die("unlocking a mutex", error));
  }
}

}  // namespace rclrt::realtime::detail

namespace rclrt::realtime {

void CeilingMutex::prepare_thread() {
  int policy = 0;
  sched_param parameters{};
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) == 0 &&
      (policy == SCHED_FIFO || policy == SCHED_RR)) {
    CeilingMutex unshared(parameters.sched_priority);
    unshared.lock();
    unshared.unlock();
  }
}

}  // namespace rclrt::realtime
