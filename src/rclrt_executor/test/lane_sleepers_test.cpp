// SPDX-License-Identifier: Apache-2.0
// Which sleeping worker of a lane a release wakes, and that no wake-up is lost.
#include "lane_sleepers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "lane_set.hpp"

namespace rclrt::executor::test {
namespace {

using Role = LaneWatch::Role;

/// Counts the system calls, and runs a function in place of each. No thread sleeps.
struct CountedCalls {
  template <typename T>
  using Atomic = std::atomic<T>;
  using Futex = std::atomic<std::uint32_t>;
  static inline int calls_ = 0;
  static inline std::function<void()> during_{};
  static int wake(const Futex& /*word*/, int /*count*/) noexcept RCLRT_NONBLOCKING {
    ++calls_;
    RCLRT_TRUST("a test calls this in place of the kernel", act());
    return 1;
  }
  static void act() noexcept {
    if (const auto once = std::exchange(during_, nullptr)) {
      once();
    }
  }
  static void wait_while(const Futex& /*word*/, std::uint32_t /*value*/,
                         std::int64_t /*until_ns*/) noexcept {}
};
using Sleepers = BasicLaneSleepers<CountedCalls>;

/// A worker that has fallen asleep.
struct Asleep {
  Asleep(Sleepers& all, Role role, int cpu)
      : slot(all.arrive()), word(all.fall_asleep(slot, role, cpu)) {}
  bool is_woken() const { return slot.load() != word; }
  Sleepers::Slot& slot;
  Sleepers::Word word;
};

TEST(LaneSleepers, ALessUrgentThreadWakesTheWorkerOfItsCpu) {
  Sleepers all(2);
  const Asleep first(all, Role::kFollower, 0);
  const Asleep second(all, Role::kFollower, 1);
  EXPECT_TRUE(all.wake_one({.cpu = 1}));
  EXPECT_FALSE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
}

TEST(LaneSleepers, AMoreUrgentThreadWakesAWorkerOfAnotherCpu) {
  Sleepers all(2);
  const Asleep first(all, Role::kFollower, 0);
  const Asleep second(all, Role::kFollower, 1);
  EXPECT_TRUE(all.wake_one({.cpu = 0, .avoids = true}));
  EXPECT_FALSE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
}

TEST(LaneSleepers, AWorkerOfAnotherCpuIsBetterThanNone) {
  Sleepers all(2);
  const Asleep only(all, Role::kLeader, 3);
  EXPECT_TRUE(all.wake_one({.cpu = 1}));
  EXPECT_TRUE(only.is_woken());
  EXPECT_FALSE(all.wake_one({.cpu = 1}));
}

TEST(LaneSleepers, AmongWorkersOfOneCpuTheLeaderIsWokenLast) {
  Sleepers all(3);
  all.set_limit(3);
  const Asleep leader(all, Role::kLeader, 0);
  const Asleep backup(all, Role::kBackup, 0);
  const Asleep follower(all, Role::kFollower, 0);
  EXPECT_TRUE(all.wake_one());
  EXPECT_TRUE(follower.is_woken());
  EXPECT_FALSE(backup.is_woken());
  EXPECT_TRUE(all.wake_one());
  EXPECT_TRUE(backup.is_woken());
  EXPECT_FALSE(leader.is_woken());
  EXPECT_TRUE(all.wake_one());
  EXPECT_TRUE(leader.is_woken());
}

TEST(LaneSleepers, NoFurtherWorkerIsWokenWhileAsManyAreAwakeAsCanHaveWork) {
  Sleepers all(2);
  const Asleep first(all, Role::kFollower, 0);
  const Asleep second(all, Role::kFollower, 1);
  CountedCalls::calls_ = 0;
  EXPECT_TRUE(all.wake_one({.cpu = 0}));
  EXPECT_FALSE(all.wake_one({.cpu = 1}));  // the first one is on its way
  all.rise(first.slot, first.word);
  EXPECT_FALSE(all.wake_one({.cpu = 1}));  // it works
  EXPECT_EQ(CountedCalls::calls_, 1);
  all.depart(first.slot);
  EXPECT_TRUE(all.wake_one({.cpu = 1}));
  EXPECT_TRUE(second.is_woken());
}

TEST(LaneSleepers, AReleaseCompletesTheWakeUpOfAThreadThatWasPreemptedWithinIt) {
  Sleepers all(2);
  const Asleep worker(all, Role::kFollower, 0);
  CountedCalls::calls_ = 0;
  CountedCalls::during_ = [&] { EXPECT_FALSE(all.wake_one()); };
  EXPECT_TRUE(all.wake_one());
  EXPECT_EQ(CountedCalls::calls_, 2);
  EXPECT_FALSE(all.wake_one());
  EXPECT_EQ(CountedCalls::calls_, 2);  // it has been called
}

TEST(LaneSleepers, AWakeUpThatComesLateDoesNotChangeALaterSleep) {
  Sleepers all(1);
  const Asleep worker(all, Role::kFollower, 0);
  Sleepers::Word again = 0;
  CountedCalls::during_ = [&] {  // the worker rises and sleeps again
    all.rise(worker.slot, worker.word);
    again = all.fall_asleep(worker.slot, Role::kFollower, 0);
  };
  EXPECT_TRUE(all.wake_one());
  EXPECT_EQ(worker.slot.load(), again);
  EXPECT_NE(again, worker.word);
  EXPECT_TRUE(all.wake_one());
}

TEST(LaneSleepers, ASlotIsUsedAgainAfterItsWorkerHasLeft) {
  Sleepers all(3);
  const Asleep first(all, Role::kFollower, 0);
  const Asleep second(all, Role::kFollower, 1);
  all.depart(first.slot);
  const Asleep third(all, Role::kFollower, 2);
  EXPECT_EQ(&first.slot, &third.slot);
  const Asleep fourth(all, Role::kFollower, 2);
  EXPECT_NE(&second.slot, &fourth.slot);
}

TEST(LaneSleepers, ALevelHasAtMostFourWorkersOnlyForShorterWakeUps) {
  EXPECT_EQ(LaneSet::with_sleepers(1, 1), 1U);
  EXPECT_EQ(LaneSet::with_sleepers(1, 2), 2U);
  EXPECT_EQ(LaneSet::with_sleepers(1, 16), 4U);
  EXPECT_EQ(LaneSet::with_sleepers(9, 16), 9U);
  EXPECT_EQ(LaneSet::with_sleepers(16, 16), 16U);
}

TEST(LaneSleepers, ManyReleasesAndWorkersLoseNoWakeUp) {
  constexpr int kReleasers = 3;
  constexpr int kReleases = 20'000;
  for (const std::size_t workers : {1, 3}) {
    for (std::size_t limit = 1; limit <= workers; ++limit) {
      LaneSleepers all(workers);
      all.set_limit(limit);
      std::atomic<int> available{0};
      std::atomic<int> taken{0};
      std::atomic<bool> done{false};
      std::vector<LaneSleepers::Slot*> slots;
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < workers; ++i) {
        slots.push_back(&all.arrive());
        threads.emplace_back([&, slot = slots.back(), cpu = static_cast<int>(i)] {
          while (!done) {
            int seen = available.load();
            while (seen > 0 && !available.compare_exchange_weak(seen, seen - 1)) {
            }
            if (seen > 0) {
              if (taken.fetch_add(1) + 1 == kReleasers * kReleases) {
                done = true;
                all.wake_all();
              }
              continue;
            }
            const auto word = all.fall_asleep(*slot, Role::kFollower, cpu);
            if (done || available.load() > 0) {
              all.rise(*slot, word);
              continue;
            }
            all.sleep(*slot, word, INT64_MAX);
          }
        });
      }
      for (int i = 0; i < kReleasers; ++i) {
        threads.emplace_back([&, i] {
          for (int release = 0; release < kReleases; ++release) {
            available.fetch_add(1);
            all.wake_one({.cpu = i, .avoids = release % 2 == 0});
          }
        });
      }
      for (std::thread& each : threads) {
        each.join();  // hangs when a wake-up is lost
      }
      EXPECT_EQ(taken, kReleasers * kReleases);
    }
  }
}

}  // namespace
}  // namespace rclrt::executor::test
