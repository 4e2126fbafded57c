// SPDX-License-Identifier: Apache-2.0
// Every sample of a real-time loop reaches the thread that stores it; a full queue is counted.
#include <atomic>
#include <cstdio>
#include <rclrt/realtime/spsc_queue.hpp>
#include <thread>

namespace rt = rclrt::realtime;

struct Sample {
  int cycle;
  double torque;
};

int main() {
  constexpr int kCycles = 100'000;
  rt::SpscQueue<Sample> samples(1024);  // all memory is allocated here
  std::atomic<bool> done{false};
  int dropped = 0;

  std::thread loop([&] {
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      if (!samples.try_push({cycle, 0.5 * cycle})) {
        ++dropped;  // a real-time thread does not wait for room
      }
    }
    done.store(true);
  });

  int stored = 0;
  Sample sample{};
  for (bool last_round = false; !last_round;) {
    last_round = done.load();  // read before the queue is emptied: if true, no value follows
    while (samples.try_pop(sample)) {
      ++stored;
    }
    std::this_thread::yield();
  }
  loop.join();
  std::printf("%d samples stored, %d dropped\n", stored, dropped);
  return stored + dropped == kCycles ? 0 : 1;
}
