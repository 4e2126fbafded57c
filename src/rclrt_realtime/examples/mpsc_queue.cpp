// SPDX-License-Identifier: Apache-2.0
// Several real-time threads report faults to one thread that handles them.
#include <array>
#include <cstdio>
#include <rclrt/realtime/mpsc_queue.hpp>
#include <thread>

namespace rt = rclrt::realtime;

struct Fault {
  int axis;
  int code;
};

int main() {
  constexpr int kAxes = 3;
  constexpr int kFaultsPerAxis = 100;
  rt::MpscQueue<Fault> faults(kAxes * kFaultsPerAxis);  // room for all: no push is refused

  std::array<std::thread, kAxes> axes;
  for (int axis = 0; axis < kAxes; ++axis) {
    axes[static_cast<std::size_t>(axis)] = std::thread([&faults, axis] {
      for (int code = 0; code < kFaultsPerAxis; ++code) {
        faults.try_push({axis, code});
      }
    });
  }

  std::array<int, kAxes> next{};  // the faults of one axis arrive in their order
  for (int handled = 0; handled < kAxes * kFaultsPerAxis;) {
    Fault fault{};
    if (!faults.try_pop(fault)) {
      std::this_thread::yield();
      continue;
    }
    if (fault.code != next[static_cast<std::size_t>(fault.axis)]++) {
      std::puts("out of order");
      return 1;
    }
    ++handled;
  }
  for (auto& axis : axes) {
    axis.join();
  }
  std::printf("%d faults of %d axes handled in order\n", kAxes * kFaultsPerAxis, kAxes);
}
