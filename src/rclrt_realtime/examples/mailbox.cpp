// SPDX-License-Identifier: Apache-2.0
// A real-time loop reports faults without ever waiting; an event loop sleeps until one comes.
#include <poll.h>

#include <cstdio>
#include <rclrt/realtime/mailbox.hpp>
#include <thread>

namespace rt = rclrt::realtime;

struct Fault {
  int cycle;
  double torque;
};

int main() {
  constexpr int kCycles = 1000;
  rt::Mailbox<Fault> faults(64);

  std::thread loop([&] {
    for (int cycle = 1; cycle <= kCycles; ++cycle) {
      const double torque = cycle % 100;  // too much once in a hundred cycles
      if (torque > 98) {
        faults.post({cycle, torque});  // if the mailbox is full, dropped and counted
      }
    }
  });

  int handled = 0;
  while (handled < kCycles / 100) {
    pollfd events{faults.fd(), POLLIN, 0};  // epoll and asio work the same way
    if (poll(&events, 1, 1000) != 1) {
      std::puts("no fault came");
      return 1;
    }
    faults.drain([&](const Fault& fault) {
      std::printf("cycle %d: torque %.0f\n", fault.cycle, fault.torque);
      ++handled;
    });
  }
  loop.join();
  return faults.dropped() == 0 ? 0 : 1;
}
