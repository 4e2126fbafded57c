// SPDX-License-Identifier: Apache-2.0
// A real-time function takes no lock of a library; it may try one of ours.
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
