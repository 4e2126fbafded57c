// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "cases.hpp"
#include "conduct.hpp"
#include "observer.hpp"
#include "rclrt/rclrt.hpp"

namespace rclrt::bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Spends CPU time of the calling thread, however often it is preempted.
void burn(nanoseconds amount) {
  const std::int64_t end = realtime::thread_cpu_now_ns() + amount.count();
  while (realtime::thread_cpu_now_ns() < end) {
  }
}

/// A prime, so that it visits all places of a power of ten, scattered.
constexpr int kStride = 7919;

}  // namespace

void measure_timers(const Setting& setting, Row& row) {
  Observer observe(setting.samples);
  Node node(setting.context, "bench");
  const int count = row.key.entities;
  for (int i = 0; i < count; ++i) {
    // Half of the levels are above 0: "split" treats their callbacks as urgent.
    const int level = i % row.key.levels + 1 - row.key.levels / 2;
    node.create_wall_timer(
        nanoseconds(kPeriod_ns) * count,
        [&](const InstanceInfo& info) {
          observe(info.start_ns - info.release_ns, info.release_ns);
        },
        {.priority = level},
        {.offset = nanoseconds(kPeriod_ns) * (static_cast<std::int64_t>(i) * kStride % count)});
  }
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  conduct(contender, setting, at_1_khz(setting), {&observe});
  observe.report(row);
  row.lost += observe.lost_releases(kPeriod_ns);
}

void measure_burner(const Setting& setting, Row& row) {
  constexpr milliseconds kHighPeriod{10};
  constexpr milliseconds kBurnerPeriod{50};
  constexpr milliseconds kWork{20};
  // At a tenth of the rate, half as many samples take five times as long as those of other cases.
  const std::size_t samples = std::max<std::size_t>(setting.samples / 2, 2);
  constexpr std::size_t kWarmUp = 3;
  Observer observe(samples);
  Node node(setting.context, "bench");
  node.create_wall_timer(
      kHighPeriod,
      [&](const InstanceInfo& info) { observe(info.start_ns - info.release_ns, info.release_ns); },
      {.priority = 1});
  node.create_wall_timer(kBurnerPeriod, [&] { burn(kWork); }, {.priority = 0});
  Contender contender(setting.executor, setting.context, setting.cpus);
  contender.add_node(node);
  const nanoseconds period = kHighPeriod;
  conduct(contender, setting, {.period_ns = period.count(), .warm_up = kWarmUp, .samples = samples},
          {&observe});
  observe.report(row);
  row.lost += observe.lost_releases(period.count());
}

}  // namespace rclrt::bench
