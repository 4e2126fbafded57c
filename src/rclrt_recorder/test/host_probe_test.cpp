// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/host_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::recorder {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(StallRecorder, RecordsAWakeUpLaterThanTheThreshold) {
  StallRecorder recorder(3, 500, 10);
  recorder.wake(1000, 1500);
  recorder.wake(2000, 2501);
  EXPECT_THAT(recorder.stalls(),
              ElementsAre(HostStall{.cpu = 3, .start_ns = 2000, .end_ns = 2501}));
}

TEST(StallRecorder, KeepsHowMuchOfTheStallTheProbeWasReady) {
  StallRecorder recorder(0, 0, 10);
  recorder.wake(1000, 1500, 400);
  recorder.wake(2000, 2500, 600);  // it was ready a little before its time
  EXPECT_EQ(recorder.stalls()[0].waited_ns, 400);
  EXPECT_EQ(recorder.stalls()[1].waited_ns, 500);
}

TEST(StallRecorder, CountsWhatItCannotKeep) {
  StallRecorder recorder(0, 0, 2);
  for (std::int64_t time = 0; time < 5; ++time) {
    recorder.wake(time * 10, time * 10 + 5);
  }
  EXPECT_THAT(recorder.stalls(), ElementsAre(HostStall{.cpu = 0, .start_ns = 0, .end_ns = 5},
                                             HostStall{.cpu = 0, .start_ns = 10, .end_ns = 15}));
  EXPECT_EQ(recorder.lost(), 3U);
}

TEST(ProbeBeside, WatchesTheCpusOfAllExecutorsOnce) {
  const std::vector<std::vector<int>> cpus{{2, 0}, {1, 2}};
  EXPECT_THAT(probe_beside(cpus).cpus, ElementsAre(0, 1, 2));
}

TEST(ProbeBeside, WatchesEveryCpuWhereOneExecutorMayUseThemAll) {
  const std::vector<std::vector<int>> cpus{{0}, {}};
  EXPECT_THAT(probe_beside(cpus).cpus, IsEmpty());
}

TEST(NextWake, StaysOnTheGridAfterALateWakeUp) {
  EXPECT_EQ(next_wake_ns(1000, 1000, 100), 1100);
  EXPECT_EQ(next_wake_ns(1000, 1099, 100), 1100);
  EXPECT_EQ(next_wake_ns(1000, 1100, 100), 1200);  // not at once again
  EXPECT_EQ(next_wake_ns(1000, 1750, 100), 1800);
  EXPECT_EQ(next_wake_ns(1000, 990, 100), 1100);  // a clock read before its time
}

/// Waits for the probes to wake `count` times; the limit only bounds a broken one.
void await_wakes(const HostProbe& probe, std::uint64_t count) {
  const auto limit = std::chrono::steady_clock::now() + seconds(60);
  while (probe.wakes() < count) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "the probe does not wake";
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST(HostProbe, RecordsEveryWakeUpWhenAllAreTooLate) {
  const std::int64_t before_ns = realtime::monotonic_now_ns();
  HostProbe probe({.cpus = {},
                   .priority = 1,
                   .period = microseconds(200),
                   .threshold = seconds(-1),
                   .capacity = 1'000'000});
  probe.start();
  await_wakes(probe, 10);
  probe.stop();
  const HostStallReport report = probe.report();
  EXPECT_EQ(report.stalls.size(), probe.wakes());
  EXPECT_EQ(report.lost, 0U);
  std::set<int> cpus;
  for (std::size_t index = 0; index < report.stalls.size(); ++index) {
    const HostStall& stall = report.stalls[index];
    EXPECT_GT(stall.start_ns, before_ns);
    EXPECT_GE(stall.end_ns, stall.start_ns);
    EXPECT_LE(stall.end_ns, realtime::monotonic_now_ns());
    if (index > 0) {
      EXPECT_GE(stall.start_ns, report.stalls[index - 1].start_ns);
    }
    cpus.insert(stall.cpu);
  }
  const std::vector<int> allowed = realtime::allowed_cpus();
  EXPECT_TRUE(std::includes(allowed.begin(), allowed.end(), cpus.begin(), cpus.end()));
}

TEST(HostProbe, WatchesEachCpuItIsGiven) {
  const int cpu = realtime::allowed_cpus().back();
  HostProbe probe({.cpus = {cpu}, .priority = 1, .threshold = seconds(-1)});
  probe.start();
  await_wakes(probe, 1);
  probe.stop();
  for (const HostStall& stall : probe.report().stalls) {
    EXPECT_EQ(stall.cpu, cpu);
  }
  EXPECT_FALSE(probe.report().stalls.empty());
}

TEST(HostProbe, RecordsNothingBelowTheThreshold) {
  HostProbe probe({.cpus = {}, .priority = 1, .threshold = std::chrono::hours(24)});
  probe.start();
  await_wakes(probe, 3);
  probe.stop();
  EXPECT_THAT(probe.report().stalls, IsEmpty());
}

TEST(HostProbe, IsValidExactlyWhenItMayUseItsRealTimePriority) {
  HostProbe probe({.cpus = {}, .priority = 2});
  probe.start();
  await_wakes(probe, 1);
  probe.stop();
  const auto refused = realtime::why_no_realtime(2);
  EXPECT_EQ(probe.report().valid, !refused);
  EXPECT_EQ(probe.report().reason, refused.value_or(""));
}

TEST(HostProbe, WorksWithoutRealTimePriorityAndBlamesNobodyThen) {
  // No kernel has this priority, so it is refused with every privilege.
  HostProbe probe({.cpus = {}, .priority = 1000, .threshold = seconds(-1)});
  probe.start();
  await_wakes(probe, 3);
  probe.stop();
  const HostStallReport report = probe.report();
  EXPECT_FALSE(report.valid);
  EXPECT_FALSE(report.reason.empty());
  EXPECT_FALSE(report.stalls.empty());
  EXPECT_THAT(report.attributable(), IsEmpty());
}

TEST(HostProbe, StopsMoreThanOnceAndStartsOnlyOnce) {
  HostProbe probe({.cpus = {}, .priority = 1});
  probe.start();
  EXPECT_THAT([&] { probe.start(); },
              ThrowsMessage<std::logic_error>(HasSubstr("a host probe starts once")));
  probe.stop();
  probe.stop();
  EXPECT_THAT([&] { probe.start(); },
              ThrowsMessage<std::logic_error>(HasSubstr("a host probe starts once")));
}

TEST(HostProbe, RefusesACpuThatDoesNotExistAndAPeriodOfZero) {
  EXPECT_THAT([&] { HostProbe({.cpus = {1 << 20}, .priority = 1}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("CPU 1048576 cannot be used by this process")));
  EXPECT_THAT([&] { HostProbe({.cpus = {}, .priority = 1, .period = {}}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("HostProbeOptions::period: expected a time above 0")));
}

TEST(HostStallReport, AttributesTheStallsOfAValidProbe) {
  HostStallReport report;
  report.stalls = {{.cpu = 0, .start_ns = 1, .end_ns = 2}};
  report.valid = true;
  EXPECT_EQ(report.attributable().size(), 1U);
}

}  // namespace
}  // namespace rclrt::recorder
