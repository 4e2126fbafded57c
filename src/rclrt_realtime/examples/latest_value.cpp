// SPDX-License-Identifier: Apache-2.0
// A sensor thread publishes poses; a control loop always works on the newest complete one.
#include <cstdio>
#include <rclrt/realtime/latest_value.hpp>
#include <thread>

namespace rt = rclrt::realtime;

struct Pose {
  double x;
  double y;
  double heading;
};

int main() {
  rt::LatestValue<Pose> pose(1);  // at most one reader
  auto reader = pose.reader();    // set-up: each reading thread needs its own

  std::thread sensor([&] {
    for (int i = 1; i <= 1000; ++i) {
      pose.write({1.0 * i, 2.0 * i, 3.0 * i});
    }
  });

  int new_values = 0;
  for (Pose now{}; now.x < 1000;) {
    new_values += reader.changed() ? 1 : 0;  // no new value is a normal case
    now = reader.read();
    if (now.y != 2 * now.x || now.heading != 3 * now.x) {
      std::puts("a torn value");
      return 1;
    }
  }
  sensor.join();
  std::printf("saw %d of 1000 poses. Each was complete, and the last one was among them.\n",
              new_values);
}
