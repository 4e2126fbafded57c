// SPDX-License-Identifier: Apache-2.0
// A real-time function must not take a lock of a library; it may try a lock of rclrt.
// REASON: must not call non-'nonblocking' function 'std::mutex::lock'
#include <mutex>

#include "rclrt/realtime/mutex.hpp"

extern std::mutex plain;
extern rclrt::realtime::PiMutex inheriting;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  plain.lock();
#else
  if (inheriting.try_lock()) {
    inheriting.unlock();
  }
#endif
}
