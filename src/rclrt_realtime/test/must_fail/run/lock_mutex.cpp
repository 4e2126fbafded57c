// SPDX-License-Identifier: Apache-2.0
// Taking a lock.
// REASON: Intercepted call to real-time unsafe function `pthread_mutex_lock`
#include <pthread.h>

#include "rclrt/realtime/safety.hpp"

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  pthread_mutex_lock(&g_mutex);
  pthread_mutex_unlock(&g_mutex);
#else
  if (pthread_mutex_trylock(&g_mutex) == 0) {
    RCLRT_TRUST("unlocking a futex does not sleep", pthread_mutex_unlock(&g_mutex));
  }
#endif
}

int main() { cycle(); }
