// SPDX-License-Identifier: Apache-2.0
// Record the time of some work, one histogram for each thread, and read their percentiles together.
#include "rclrt/realtime/histogram.hpp"

#include <iostream>
#include <thread>

#include "rclrt/realtime/clock.hpp"

using rclrt::realtime::Histogram;
using rclrt::realtime::monotonic_now_ns;

namespace {

constexpr int kRounds = 10'000;

void work_and_record(Histogram& duration) {
  volatile double value = 1.0;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t start_ns = monotonic_now_ns();
    for (int i = 0; i < 100; ++i) {
      value = value * 1.000001;
    }
    duration.record_alone(monotonic_now_ns() - start_ns);
  }
}

}  // namespace

int main() {
  Histogram first;  // 1 ns to 1 h, three significant digits
  Histogram second;
  std::thread other([&] { work_and_record(second); });
  work_and_record(first);
  other.join();

  Histogram all(first);
  all.add(second);
  std::cout << all.count() << " samples, p50 " << all.percentile(50) << " ns, p99 "
            << all.percentile(99) << " ns, p99.9 " << all.percentile(99.9) << " ns, max "
            << all.max() << " ns\n";
  return all.count() == 2 * kRounds && all.percentile(50) <= all.percentile(99) ? 0 : 1;
}
