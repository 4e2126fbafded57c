// SPDX-License-Identifier: Apache-2.0
// The classes that wake threads, under every interleaving of a small case.
#include "every_interleaving.hpp"
#include "rclrt/realtime/doorbell.hpp"
#include "rclrt/realtime/event_count.hpp"

namespace rclrt::realtime {
namespace {

// ---- Doorbell ----

template <typename Atomics>
Outcome explore_doorbell(int ringers) {
  return Explorer::explore(Loads::kAnyAllowed, [=](Explorer& run) {
    BasicArmed<Atomics::template Atomic> armed;
    armed.ring();  // as left by an earlier wake-up
    Ghost conditions[2] = {Ghost(0), Ghost(0)};
    Ghost signalled{0};
    int seen[2] = {};
    for (int i = 0; i < ringers; ++i) {
      run.spawn([&, i] {
        conditions[i].store(1, std::memory_order_relaxed);
        if (armed.ring()) {
          signalled.store(1, std::memory_order_relaxed);
        }
      });
    }
    run.spawn([&] {
      armed.arm();
      for (int i = 0; i < ringers; ++i) {
        seen[i] = conditions[i].load(std::memory_order_relaxed);
      }
    });
    run.run();
    for (int i = 0; i < ringers; ++i) {
      Explorer::check(seen[i] == 1 || signalled.load() == 1, "sleeps through a ring");
    }
  });
}

TEST_F(EveryInterleaving, OfDoorbellLosesNoRing) {
  expect_correct(explore_doorbell<Explored>(1), 2);
  expect_correct(explore_doorbell<Explored>(2), 10);
}

TEST_F(EveryInterleaving, FindsDoorbellWrongWithoutItsReleasesOrItsAcquires) {
  EXPECT_NE(explore_doorbell<ExploredWith<test::without_release>>(1).failure, "");
  EXPECT_NE(explore_doorbell<ExploredWith<test::without_acquire>>(1).failure, "");
}

// ---- EventCount ----

/// The typical mistake: to check the condition before `prepare_wait`.
enum class Look { kAfterPrepare, kBeforePrepare };

/// Each notifier adds an item and notifies one thread. The waiter waits for an item and takes it.
/// If the waiter sleeps although there is an item, the explorer finds it: all threads sleep then.
template <typename Atomics>
Outcome explore_event_count(Loads loads, int notifiers, Look look = Look::kAfterPrepare) {
  return Explorer::explore(loads, [=](Explorer& run) {
    BasicEventCount<Atomics> event;
    typename Atomics::template Atomic<int> available{0};
    const auto take = [&] {
      int seen = available.load();
      while (seen > 0) {
        if (available.compare_exchange_weak(seen, seen - 1)) {
          return true;
        }
      }
      return false;
    };
    for (int i = 0; i < notifiers; ++i) {
      run.spawn([&] {
        available.fetch_add(1);
        event.notify_one();
      });
    }
    run.spawn([&] {
      for (;;) {
        if (look == Look::kBeforePrepare && take()) {
          break;
        }
        const auto key = event.prepare_wait();
        if (look == Look::kAfterPrepare && take()) {
          event.cancel_wait();
          break;
        }
        event.wait(key);
      }
    });
    run.run();
    Explorer::check(available.load() == notifiers - 1, "an item lost or doubled");
  });
}

/// A flag that one thread raises for all, as StopFlag and CyclicThread do it.
template <typename Atomics>
Outcome explore_stop_flag(int waiters) {
  return Explorer::explore(Loads::kAnyAllowed, [=](Explorer& run) {
    BasicEventCount<Atomics> event;
    typename Atomics::template Atomic<int> stop{0};
    run.spawn([&] {
      stop.store(1);
      event.notify_all();
    });
    for (int i = 0; i < waiters; ++i) {
      run.spawn([&] {
        while (stop.load() == 0) {
          const auto key = event.prepare_wait();
          if (stop.load() != 0) {
            event.cancel_wait();
            break;
          }
          event.wait(key);
        }
      });
    }
    run.run();
  });
}

TEST_F(EveryInterleaving, OfEventCountLosesNoWakeUp) {
  expect_correct(explore_event_count<Explored>(Loads::kNewest, 1), 5);
  expect_correct(explore_event_count<Explored>(Loads::kNewest, 2), 1000);
}

TEST_F(EveryInterleaving, OfEventCountOnAWeakMachineLosesNoWakeUp) {
  expect_correct(explore_event_count<Explored>(Loads::kAnyAllowed, 1), 5);
  expect_correct(explore_stop_flag<Explored>(1), 5);
}

TEST_F(EveryInterleaving, OfEventCountWakesEverybodyWhoWaits) {
  expect_correct(explore_stop_flag<Explored>(2), 50);
}

TEST_F(EveryInterleaving, FindsEventCountWrongWithoutItsSingleTotalOrder) {
  using Weak = ExploredWith<test::without_seq_cst>;
  EXPECT_NE(explore_stop_flag<Weak>(1).failure, "");
}

TEST_F(EveryInterleaving, FindsTheWakeUpThatIsLostByLookingBeforePreparingToWait) {
  const Outcome outcome = explore_event_count<Explored>(Loads::kNewest, 1, Look::kBeforePrepare);
  EXPECT_EQ(outcome.failure, "somebody sleeps and nobody is left to wake it");
}

}  // namespace
}  // namespace rclrt::realtime
