// SPDX-License-Identifier: Apache-2.0
// A function labelled RCLRT_SETUP belongs before the run phase.
// REASON: must not call non-'nonblocking' constructor 'rclrt::realtime::PiMutex::PiMutex'
#include "rclrt/realtime/mutex.hpp"

extern rclrt::realtime::PiMutex made_in_time;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  const rclrt::realtime::PiMutex made_too_late;
#else
  if (made_in_time.try_lock()) {
    made_in_time.unlock();
  }
#endif
}
