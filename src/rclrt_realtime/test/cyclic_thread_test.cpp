// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/cyclic_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rclrt/realtime/fake_clock.hpp"

namespace rclrt::realtime {

bool operator==(const Release& a, const Release& b) {
  return a.index == b.index && a.nominal_ns == b.nominal_ns && a.lateness_ns == b.lateness_ns;
}
std::ostream& operator<<(std::ostream& out, const Release& release) {
  return out << "{" << release.index << ", " << release.nominal_ns << ", " << release.lateness_ns
             << "}";
}

namespace {

using Releases = std::vector<Release>;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kPeriod_ns = 10;

CyclicOptions options_for(OverrunPolicy policy, Clock& clock) {
  return {
      .thread = {.name = "cyclic"}, .period_ns = kPeriod_ns, .overrun = policy, .clock = &clock};
}

struct Ran {
  Releases releases;
  CyclicCounts counts;
};

/// Runs a thread from time 100 until `until_ns`. Cycle i works for `work_ns[i]`; later cycles work
/// for no time.
Ran run(OverrunPolicy policy, const std::vector<std::int64_t>& work_ns, std::int64_t until_ns,
        std::optional<std::int64_t> first_release_ns = std::nullopt) {
  FakeClock clock(100);
  Ran ran;
  CyclicOptions options = options_for(policy, clock);
  options.first_release_ns = first_release_ns;
  CyclicThread thread(options, [&](const Release& release) {
    ran.releases.push_back(release);
    const std::size_t cycle = ran.releases.size() - 1;
    clock.advance(cycle < work_ns.size() ? work_ns[cycle] : 0);
  });
  thread.start();
  clock.run_until(until_ns, 1);
  thread.stop();
  ran.counts = thread.counts();
  return ran;
}

TEST(CyclicThread, RunsOncePerPeriodFromTheMomentItStarts) {
  const auto ran = run(OverrunPolicy::kCatchUp, {3, 3, 9}, 130);
  EXPECT_EQ(ran.releases, (Releases{{0, 100, 0}, {1, 110, 0}, {2, 120, 0}, {3, 130, 0}}));
  EXPECT_EQ(ran.counts.cycles, 4U);
  EXPECT_EQ(ran.counts.missed, 0U);
  EXPECT_EQ(ran.counts.overruns, 0U);
  EXPECT_EQ(ran.counts.deadline_misses, 0U);
}

TEST(CyclicThread, CatchUpRunsEveryMissedReleaseBackToBack) {
  const auto ran = run(OverrunPolicy::kCatchUp, {35, 2, 2, 2}, 150);
  EXPECT_EQ(ran.releases, (Releases{{0, 100, 0},
                                    {1, 110, 25},  // at 135
                                    {2, 120, 17},
                                    {3, 130, 9},
                                    {4, 140, 1},  // at 141
                                    {5, 150, 0}}));
  EXPECT_EQ(ran.counts.missed, 0U);
  EXPECT_EQ(ran.counts.overruns, 4U);  // ended at 135, 137, 139 and 141
  EXPECT_EQ(ran.counts.deadline_misses, 4U);
}

TEST(CyclicThread, SkipLeavesOutMissedReleasesAndKeepsThePhase) {
  const auto ran = run(OverrunPolicy::kSkip, {35, 2, 12}, 170);
  EXPECT_EQ(ran.releases, (Releases{{0, 100, 0},  // until 135: 110, 120 and 130 are missed
                                    {4, 140, 0},
                                    {5, 150, 0},  // until 162: 160 is missed
                                    {7, 170, 0}}));
  EXPECT_EQ(ran.counts.cycles, 4U);
  EXPECT_EQ(ran.counts.missed, 4U);
  EXPECT_EQ(ran.counts.overruns, 2U);
}

TEST(CyclicThread, RebaseGoesOnOnePeriodAfterTheOverrunInANewPhase) {
  const auto ran = run(OverrunPolicy::kRebase, {35, 2, 12}, 182);
  EXPECT_EQ(ran.releases, (Releases{{0, 100, 0},  // until 135
                                    {1, 145, 0},
                                    {2, 155, 0},  // until 167
                                    {3, 177, 0}}));
  EXPECT_EQ(ran.counts.missed, 4U);  // 110, 120, 130; 165
  EXPECT_EQ(ran.counts.overruns, 2U);
}

TEST(CyclicThread, TheFirstReleaseCanBeStated) {
  EXPECT_EQ(run(OverrunPolicy::kSkip, {}, 137, 127).releases, (Releases{{0, 127, 0}, {1, 137, 0}}));
}

TEST(CyclicThread, AFirstReleaseThatHasPassedStillGivesThePhase) {
  EXPECT_EQ(run(OverrunPolicy::kSkip, {}, 117, 77).releases, (Releases{{0, 107, 0}, {1, 117, 0}}));
}

/// A thread that sleeps until 110 wakes at 123; then time continues to 130.
Releases releases_after_a_late_wake_up(OverrunPolicy policy) {
  FakeClock clock(100);
  Releases releases;
  CyclicThread thread(options_for(policy, clock),
                      [&](const Release& release) { releases.push_back(release); });
  thread.start();
  clock.wait_for_sleepers(1);
  clock.advance(23);
  clock.run_until(130, 1);
  thread.stop();
  return releases;
}

TEST(CyclicThread, AThreadThatWakesLateRunsThatReleaseAndThenFollowsItsPolicy) {
  EXPECT_EQ(releases_after_a_late_wake_up(OverrunPolicy::kCatchUp),
            (Releases{{0, 100, 0}, {1, 110, 13}, {2, 120, 3}, {3, 130, 0}}));
  EXPECT_EQ(releases_after_a_late_wake_up(OverrunPolicy::kSkip),
            (Releases{{0, 100, 0}, {1, 110, 13}, {3, 130, 0}}));
}

TEST(CyclicThread, LatenessAndLoopTimeAreInItsHistograms) {
  FakeClock clock(100);
  CyclicThread thread(options_for(OverrunPolicy::kCatchUp, clock),
                      [&](const Release& release) { clock.advance(release.index == 0 ? 17 : 2); });
  thread.start();
  clock.run_until(130, 1);
  thread.stop();
  // Cycles at 100 (17 long), 117, 120 and 130 (2 each).
  EXPECT_EQ(thread.lateness().count(), 4U);
  EXPECT_EQ(thread.lateness().count_in(0), 3U);
  EXPECT_EQ(thread.lateness().max(), 7);
  EXPECT_EQ(thread.loop_time().count_in(2), 3U);
  EXPECT_EQ(thread.loop_time().max(), 17);
}

TEST(CyclicThread, WakingAheadGivesNegativeLateness) {
  FakeClock clock(100);
  CyclicOptions options = options_for(OverrunPolicy::kCatchUp, clock);
  options.wake_ahead_ns = 4;
  Releases releases;
  CyclicThread thread(options, [&](const Release& release) { releases.push_back(release); });
  thread.start();
  clock.run_until(120, 1);
  thread.stop();
  EXPECT_EQ(releases, (Releases{{0, 100, 0}, {1, 110, -4}, {2, 120, -4}}));
  EXPECT_EQ(thread.lateness().below_range(), 2U);
}

TEST(CyclicThread, TheHookHearsOfEachMissedDeadlineAfterItsLoop) {
  FakeClock clock(100);
  CyclicOptions options = options_for(OverrunPolicy::kSkip, clock);
  options.deadline_ns = 4;
  std::vector<DeadlineMiss> heard;
  CyclicThread thread(
      options, [&](const Release& release) { clock.advance(release.index == 1 ? 6 : 4); },
      [&](const DeadlineMiss& miss) { heard.push_back(miss); });
  thread.start();
  clock.run_until(130, 1);
  thread.stop();
  ASSERT_EQ(heard.size(), 1U);  // 4 ns are in time, 6 ns are not
  EXPECT_EQ(heard[0].release, (Release{1, 110, 0}));
  EXPECT_EQ(heard[0].finish_ns, 116);
  EXPECT_EQ(heard[0].lateness_ns, 2);
  EXPECT_EQ(thread.counts().deadline_misses, 1U);
  EXPECT_EQ(thread.counts().overruns, 0U);
}

TEST(CyclicThread, TheHooksOfItsThreadRunAroundAllCycles) {
  FakeClock clock;
  std::vector<std::string> events;
  CyclicOptions options = options_for(OverrunPolicy::kCatchUp, clock);
  options.thread.before = [&] { events.emplace_back("before"); };
  options.thread.after = [&] { events.emplace_back("after"); };
  CyclicThread thread(options, [&](const Release&) { events.emplace_back("loop"); });
  thread.start();
  clock.run_until(10, 1);
  thread.stop();
  EXPECT_EQ(events, (std::vector<std::string>{"before", "loop", "loop", "after"}));
}

TEST(CyclicThread, StopWakesASleepingThread) {
  FakeClock clock;  // never advanced
  CyclicThread thread(options_for(OverrunPolicy::kCatchUp, clock), [](const Release&) {});
  thread.start();
  clock.wait_for_sleepers(1);
  EXPECT_TRUE(thread.running());
  thread.stop();
  EXPECT_FALSE(thread.running());
  EXPECT_EQ(thread.counts().cycles, 1U);
}

TEST(CyclicThread, StopInterruptsASleepOnTheSteadyClock) {
  std::atomic<bool> began{false};
  CyclicThread thread({.thread = {.name = "hourly"}, .period_ns = 3'600'000'000'000},
                      [&](const Release&) { began = true; });
  thread.start();
  while (!began) {
    std::this_thread::yield();
  }
  thread.stop();  // takes an hour if not interrupted
  EXPECT_EQ(thread.counts().cycles, 1U);
}

TEST(CyclicThread, ALoopCanEndItsOwnThread) {
  FakeClock clock;
  CyclicThread thread(options_for(OverrunPolicy::kCatchUp, clock), [&](const Release& release) {
    clock.advance(kPeriod_ns);  // so that it need not sleep
    return release.index == 4 ? LoopControl::kStop : LoopControl::kContinue;
  });
  thread.start();
  thread.join();
  EXPECT_FALSE(thread.running());
  EXPECT_EQ(thread.counts().cycles, 5U);
}

TEST(CyclicThread, CanBeStartedAgainAndBeginsAnew) {
  FakeClock clock(100);
  Releases releases;
  CyclicThread thread(options_for(OverrunPolicy::kSkip, clock),
                      [&](const Release& release) { releases.push_back(release); });
  thread.start();
  EXPECT_THAT([&] { thread.start(); }, ThrowsMessage<std::logic_error>(
                                           HasSubstr("which is still running; call stop() first")));
  clock.run_until(110, 1);
  thread.stop();
  clock.advance(13);
  thread.start();
  clock.run_until(133, 1);
  thread.stop();
  EXPECT_EQ(releases, (Releases{{0, 100, 0}, {1, 110, 0}, {0, 123, 0}, {1, 133, 0}}));
  EXPECT_EQ(thread.counts().cycles, 2U);
  EXPECT_EQ(thread.lateness().count(), 2U);
}

TEST(CyclicThread, StoppingAThreadThatWasNeverStartedDoesNothing) {
  CyclicThread thread({.period_ns = kPeriod_ns}, [](const Release&) {});
  thread.stop();
  EXPECT_FALSE(thread.running());
}

TEST(CyclicThread, AThreadThatCannotStartThrowsAndMayBeStartedLater) {
  CyclicThread thread(
      {.thread = {.name = "nowhere", .scheduling = {.cpus = {100'000}}}, .period_ns = kPeriod_ns},
      [](const Release&) {});
  EXPECT_THAT([&] { thread.start(); }, ThrowsMessage<std::invalid_argument>(
                                           HasSubstr("CPU 100000 cannot be used by this process")));
  EXPECT_FALSE(thread.running());
  EXPECT_THAT([&] { thread.start(); }, ThrowsMessage<std::invalid_argument>(
                                           HasSubstr("CPU 100000 cannot be used by this process")));
}

TEST(CyclicThread, RefusesTimesThatCannotBe) {
  const auto loop = [](const Release&) {};
  EXPECT_THAT(
      [&] { CyclicThread({.period_ns = 0}, loop); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a period must be positive, not 0 ns")));
  EXPECT_THAT([&] { CyclicThread({.period_ns = 10, .deadline_ns = -1}, loop); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a deadline must not be negative, not -1 ns")));
  EXPECT_THAT([&] { CyclicThread({.period_ns = 10, .wake_ahead_ns = -1}, loop); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("0 or more and less than the period, not -1 ns")));
  EXPECT_THAT([&] { CyclicThread({.period_ns = 10, .wake_ahead_ns = 10}, loop); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("0 or more and less than the period, not 10 ns")));
}

TEST(CyclicThread, RefusesToBeWithoutAClock) {
  EXPECT_THAT([&] { CyclicThread({.period_ns = 10, .clock = nullptr}, [](const Release&) {}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "needs a clock, not nullptr; leave out `clock` to use &steady_clock()")));
}

TEST(CyclicThread, ItsFiguresCanBeReadWhileItRuns) {
  constexpr std::uint64_t kCycles = 300;
  CyclicThread thread(
      {.thread = {.name = "busy"}, .period_ns = 10'000}, [&](const Release& release) {
        return release.index + 1 == kCycles ? LoopControl::kStop : LoopControl::kContinue;
      });
  thread.start();
  std::uint64_t seen = 0;
  while (thread.running()) {
    const CyclicCounts counts = thread.counts();
    EXPECT_GE(counts.cycles, seen);
    seen = counts.cycles;
    EXPECT_LE(Histogram(thread.lateness()).count(), kCycles);
  }
  thread.join();
  EXPECT_EQ(thread.counts().cycles, kCycles);
  EXPECT_EQ(thread.lateness().count(), kCycles);
  EXPECT_EQ(thread.lateness().below_range(), 0U);  // never early
  EXPECT_EQ(thread.loop_time().count(), kCycles);
}

TEST(CyclicThread, EveryElapsedPeriodIsACycleOrCountedAsMissed) {
  std::mt19937_64 random(3);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<std::int64_t> work;
    for (int i = 0; i < 50; ++i) {
      work.push_back(static_cast<std::int64_t>((random() % 64) >> (random() % 7)));
    }
    const auto ran = run(OverrunPolicy::kSkip, work, 2'000);
    ASSERT_EQ(ran.counts.cycles, ran.releases.size());
    // The last release was the last grid point until the end: (last - 100) / 10 + 1 in total.
    EXPECT_EQ(static_cast<std::int64_t>(ran.counts.cycles + ran.counts.missed),
              (ran.releases.back().nominal_ns - 100) / kPeriod_ns + 1);
  }
}

}  // namespace
}  // namespace rclrt::realtime
