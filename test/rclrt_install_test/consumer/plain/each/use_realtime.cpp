// SPDX-License-Identifier: Apache-2.0
// Records the numbers 1 to 100 from a thread, and prints how many there were and the largest.
#include <cstdio>
#include <rclrt/realtime/histogram.hpp>
#include <rclrt/realtime/thread.hpp>

int main() {
  rclrt::realtime::Histogram histogram;
  rclrt::realtime::Thread thread({.name = "counter"}, [&] {
    for (int value = 1; value <= 100; ++value) {
      histogram.record(value);
    }
  });
  thread.join();
  std::printf("samples %llu, max %lld\n", static_cast<unsigned long long>(histogram.count()),
              static_cast<long long>(histogram.max()));
}
