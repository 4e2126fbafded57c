// SPDX-License-Identifier: Apache-2.0
// The sleeping workers of a lane, under every interleaving of small cases. If a worker sleeps
// although an instance is left, the explorer finds it: all threads sleep then.
#include "every_interleaving.hpp"
#include "lane_sleepers.hpp"

namespace rclrt::realtime {
namespace {

using Sleepers = executor::BasicLaneSleepers<Explored>;
constexpr auto kFollower = executor::LaneWatch::Role::kFollower;

enum class LastLook { kAfterFallingAsleep, kNone };

/// A thread makes an instance available and wakes the worker, which takes the instance.
Outcome explore_one_worker(Loads loads, LastLook last_look) {
  return Explorer::explore(loads, [=](Explorer& run) {
    Sleepers all(1);
    Explored::Atomic<int> available{0};
    run.spawn([&] {
      available.store(1);
      all.wake_one();
    });
    run.spawn([&, slot = &all.arrive()] {
      while (available.load() == 0) {
        const auto word = all.fall_asleep(*slot, kFollower, 0);
        if (last_look == LastLook::kAfterFallingAsleep && available.load() != 0) {
          all.rise(*slot, word);
          continue;
        }
        all.sleep(*slot, word, INT64_MAX);
      }
    });
    run.run();
  });
}

/// One of two workers may work at a time, and is awake at first. The other one sleeps all the time:
/// the release relies on the worker that is awake.
Outcome explore_limit() {
  return Explorer::explore(Loads::kAnyAllowed, [=](Explorer& run) {
    Sleepers all(2);
    Explored::Atomic<int> available{0};
    Sleepers::Slot& slot = all.arrive();
    Sleepers::Slot& other = all.arrive();
    const auto word_of_other = all.fall_asleep(other, kFollower, 0);
    run.spawn([&] {
      available.store(1);
      all.wake_one();
    });
    run.spawn([&] {
      while (available.load() == 0) {
        const auto word = all.fall_asleep(slot, kFollower, 0);
        if (available.load() != 0) {
          all.rise(slot, word);
          return;
        }
        all.sleep(slot, word, INT64_MAX);
      }
    });
    run.run();
    Explorer::check(other.load() == word_of_other, "a second worker is woken");
  });
}

TEST_F(EveryInterleaving, OfASleepingWorkerLosesNoWakeUp) {
  expect_correct(explore_one_worker(Loads::kNewest, LastLook::kAfterFallingAsleep), 5);
}

TEST_F(EveryInterleaving, OfASleepingWorkerOnAWeakMachineLosesNoWakeUp) {
  expect_correct(explore_one_worker(Loads::kAnyAllowed, LastLook::kAfterFallingAsleep), 5);
}

TEST_F(EveryInterleaving, OfMoreSleepingWorkersThanMayWorkLosesNoWakeUp) {
  expect_correct(explore_limit(), 50);
}

TEST_F(EveryInterleaving, FindsTheWakeUpThatIsLostWithoutALastLook) {
  const Outcome outcome = explore_one_worker(Loads::kNewest, LastLook::kNone);
  EXPECT_EQ(outcome.failure, "a thread sleeps and none is left to wake it");
}

}  // namespace
}  // namespace rclrt::realtime
