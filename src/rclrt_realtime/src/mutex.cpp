// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/mutex.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace rclrt::realtime::detail {

namespace {
void require(int error, const char* action) {
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), action);
  }
}

[[noreturn]] void die(const char* action, int error) noexcept {
  std::fprintf(stderr, "rclrt: %s: %s\n", action, std::strerror(error));
  std::abort();
}
}  // namespace

ProtocolMutex::ProtocolMutex(int protocol, int ceiling) {
  pthread_mutexattr_t attributes;
  require(pthread_mutexattr_init(&attributes), "mutex attributes");
  int error = pthread_mutexattr_setprotocol(&attributes, protocol);
  if (error == 0) {
    error = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  }
  if (error == 0 && protocol == PTHREAD_PRIO_PROTECT) {
    error = pthread_mutexattr_setprioceiling(&attributes, ceiling);
  }
  if (error == 0) {
    error = pthread_mutex_init(&mutex_, &attributes);
  }
  pthread_mutexattr_destroy(&attributes);
  require(error, "creating a mutex with a priority protocol");
}

ProtocolMutex::~ProtocolMutex() { pthread_mutex_destroy(&mutex_); }

void ProtocolMutex::lock() noexcept RCLRT_WAITS {
  if (const int error = pthread_mutex_lock(&mutex_); error != 0) {
    die("locking a mutex", error);
  }
}

bool ProtocolMutex::try_lock() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("trying does not sleep", pthread_mutex_trylock(&mutex_)) == 0;
}

void ProtocolMutex::unlock() noexcept RCLRT_NONBLOCKING {
  const int error = RCLRT_TRUST("giving a lock away does not sleep", pthread_mutex_unlock(&mutex_));
  if (error != 0) {
    RCLRT_TRUST("the process ends here", die("unlocking a mutex", error));
  }
}

}  // namespace rclrt::realtime::detail
