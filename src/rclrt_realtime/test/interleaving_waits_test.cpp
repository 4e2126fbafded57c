// SPDX-License-Identifier: Apache-2.0
// The classes that wake threads, under every interleaving of a small case.
#include "every_interleaving.hpp"
#include "rclrt/realtime/doorbell.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/quiescence_guard.hpp"

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
  EXPECT_EQ(outcome.failure, "a thread sleeps and none is left to wake it");
}

// ---- QuiescenceGuard ----

/// Visitors use an object inside an open guard; another thread closes the guard and then destroys
/// the object. If it sleeps for ever, the explorer finds it: all threads sleep then.
template <typename Atomics>
Outcome explore_close(Loads loads, int visitors, int visits) {
  return Explorer::explore(loads, [=](Explorer& run) {
    BasicQuiescenceGuard<Atomics> guard;
    guard.open();
    int object = 0;
    for (int i = 0; i < visitors; ++i) {
      run.spawn([&] {
        for (int visit = 0; visit < visits; ++visit) {
          if (guard.try_enter()) {
            Atomics::reading(object);
            guard.leave();
          }
        }
      });
    }
    run.spawn([&] {
      guard.close();
      Atomics::writing(object);
    });
    run.run();
    Explorer::check(guard.is_empty(), "a thread is still inside");
  });
}

/// Two threads wait for a visitor that has entered before.
template <typename Atomics>
Outcome explore_two_waiters() {
  return Explorer::explore(Loads::kNewest, [=](Explorer& run) {
    BasicQuiescenceGuard<Atomics> guard;
    guard.enter();
    int object = 0;
    run.spawn([&] {
      Atomics::writing(object);
      guard.leave();
    });
    for (int i = 0; i < 2; ++i) {
      run.spawn([&] {
        guard.wait_until_empty();
        Atomics::reading(object);
      });
    }
    run.run();
  });
}

/// Two threads leave a note and deliver it if the guard is open; the thread that opens the guard
/// delivers the notes that it finds, as NotifiedCallback does. No note may be lost.
template <typename Atomics>
Outcome explore_open() {
  return Explorer::explore(Loads::kAnyAllowed, [=](Explorer& run) {
    BasicQuiescenceGuard<Atomics> guard;
    Ghost notes[2] = {Ghost(0), Ghost(0)};
    bool delivered[2] = {};
    bool found[2] = {};
    for (int i = 0; i < 2; ++i) {
      run.spawn([&, i] {
        notes[i].store(1, std::memory_order_relaxed);
        delivered[i] = guard.try_enter();
        if (delivered[i]) {
          guard.leave();
        }
      });
    }
    run.spawn([&] {
      guard.open();
      for (int i = 0; i < 2; ++i) {
        found[i] = notes[i].load(std::memory_order_relaxed) == 1;
      }
    });
    run.run();
    for (int i = 0; i < 2; ++i) {
      Explorer::check(delivered[i] || found[i], "a note that is not delivered");
    }
  });
}

/// A reader uses the current one of two values; the writer replaces it and frees the old one if no
/// thread is inside.
template <typename Atomics>
Outcome explore_replace(int readers) {
  return Explorer::explore(Loads::kAnyAllowed, [=](Explorer& run) {
    BasicQuiescenceGuard<Atomics> guard;
    int values[2] = {};
    typename Atomics::template Atomic<int> current{0};
    for (int i = 0; i < readers; ++i) {
      run.spawn([&] {
        guard.enter();
        Atomics::reading(values[current.load(std::memory_order_acquire)]);
        guard.leave();
      });
    }
    run.spawn([&] {
      Atomics::writing(values[1]);
      current.store(1, std::memory_order_release);
      if (guard.is_empty()) {
        Atomics::writing(values[0]);
      }
    });
    run.run();
  });
}

TEST_F(EveryInterleaving, OfQuiescenceGuardLetsNoThreadInAfterClose) {
  expect_correct(explore_close<Explored>(Loads::kAnyAllowed, 1, 2), 10);
  expect_correct(explore_close<Explored>(Loads::kNewest, 2, 1), 50);
}

TEST_F(EveryInterleaving, OfQuiescenceGuardWakesAllThreadsThatWait) {
  expect_correct(explore_two_waiters<Explored>(), 10);
}

TEST_F(EveryInterleaving, OfQuiescenceGuardLosesNoWorkWhenItOpens) {
  expect_correct(explore_open<Explored>(), 10);
}

TEST_F(EveryInterleaving, OfQuiescenceGuardKeepsAValueWhileItIsRead) {
  expect_correct(explore_replace<Explored>(1), 3);
  expect_correct(explore_replace<Explored>(2), 10);
}

TEST_F(EveryInterleaving, FindsQuiescenceGuardWrongWithoutItsReleasesOrItsAcquires) {
  using NoRelease = ExploredWith<test::without_release>;
  using NoAcquire = ExploredWith<test::without_acquire>;
  EXPECT_NE(explore_close<NoRelease>(Loads::kAnyAllowed, 1, 1).failure, "");
  EXPECT_NE(explore_close<NoAcquire>(Loads::kAnyAllowed, 1, 1).failure, "");
  EXPECT_NE(explore_two_waiters<NoRelease>().failure, "");
  EXPECT_NE(explore_two_waiters<NoAcquire>().failure, "");
  EXPECT_NE(explore_open<NoRelease>().failure, "");
  EXPECT_NE(explore_open<NoAcquire>().failure, "");
  EXPECT_NE(explore_replace<NoRelease>(1).failure, "");
  EXPECT_NE(explore_replace<NoAcquire>(1).failure, "");
}

}  // namespace
}  // namespace rclrt::realtime
