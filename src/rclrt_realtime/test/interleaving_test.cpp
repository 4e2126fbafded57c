// SPDX-License-Identifier: Apache-2.0
// The lock-free structures under every interleaving of a small case, and proof that the explorer
// would see it if they were wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#include "explored_atomics.hpp"
#include "interleaving_explorer.hpp"
#include "rclrt/realtime/doorbell.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/latest_value.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/spsc_queue.hpp"

namespace rclrt::realtime {
namespace {

using test::Explored;
using test::ExploredWith;
using test::Explorer;
using Loads = Explorer::Loads;
using Outcome = Explorer::Outcome;

class EveryInterleaving : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kFibresConfuseTheSanitizer) {
      GTEST_SKIP() << "this sanitizer does not understand fibres";
    }
  }
};

/// Prints how many executions there were. At least this many different executions: the case is not
/// trivial by mistake.
void expect_correct(const Outcome& outcome, std::uint64_t at_least) {
  EXPECT_EQ(outcome.failure, "");
  EXPECT_TRUE(outcome.exhausted);
  EXPECT_GE(outcome.executions, at_least);
  testing::Test::RecordProperty("executions", std::to_string(outcome.executions));
  std::cout << outcome.executions << " different executions\n";
}

/// A count that the checks use and the algorithm does not know: relaxed, so it adds no
/// happens-before, and explored, so the order of begin and end of operations is explored as well.
using Ghost = Explored::Atomic<int>;

// ---- LatestValue ----

struct Pair {
  int a = 0;
  int b = 0;
};

template <typename Atomics>
Outcome explore_latest_value(Loads loads, int readers, int writes, int reads) {
  return Explorer::explore(loads, [=](Explorer& run) {
    LatestValue<Pair, Atomics> value(static_cast<std::size_t>(readers));
    Ghost begun{0};
    Ghost done{0};
    const bool in_order = loads == Loads::kNewest;  // "before" means something without clocks
    std::vector<typename LatestValue<Pair, Atomics>::Reader> places;
    for (int i = 0; i < readers; ++i) {
      places.push_back(value.reader());
    }
    run.spawn([&] {
      for (int i = 1; i <= writes; ++i) {
        if (in_order) {
          begun.store(i, std::memory_order_relaxed);
        }
        value.write({i, i});
        if (in_order) {
          done.store(i, std::memory_order_relaxed);
        }
      }
    });
    for (int r = 0; r < readers; ++r) {
      run.spawn([&, r] {
        int last = 0;
        for (int i = 0; i < reads; ++i) {
          const int earliest = in_order ? done.load(std::memory_order_relaxed) : 0;
          const Pair seen = places[static_cast<std::size_t>(r)].read();
          const int newest = in_order ? begun.load(std::memory_order_relaxed) : writes;
          Explorer::check(seen.a == seen.b, "a torn value");
          Explorer::check(seen.a >= last, "an older value after a newer one");
          Explorer::check(seen.a >= earliest, "older than a write that was over before the read");
          Explorer::check(seen.a <= newest, "newer than any write that had begun");
          last = seen.a;
        }
      });
    }
    run.run();
    for (auto& place : places) {
      Explorer::check(place.read().a == writes, "not the last value in the end");
    }
  });
}

TEST_F(EveryInterleaving, OfLatestValueWithOneReaderIsLinearizable) {
  expect_correct(explore_latest_value<Explored>(Loads::kNewest, 1, 3, 2), 100);
}

TEST_F(EveryInterleaving, OfLatestValueWithTwoReadersIsLinearizable) {
  expect_correct(explore_latest_value<Explored>(Loads::kNewest, 2, 2, 1), 100);
}

TEST_F(EveryInterleaving, OfLatestValueOnAWeakMachineIsFreeOfRacesAndMonotone) {
  expect_correct(explore_latest_value<Explored>(Loads::kAnyAllowed, 1, 4, 3), 100);
  expect_correct(explore_latest_value<Explored>(Loads::kAnyAllowed, 2, 3, 2), 1000);
}

TEST_F(EveryInterleaving, FindsLatestValueWrongWithoutItsReleasesOrItsAcquires) {
  using test::without_acquire;
  using test::without_release;
  EXPECT_NE(explore_latest_value<ExploredWith<without_release>>(Loads::kNewest, 1, 3, 2).failure,
            "");
  EXPECT_NE(explore_latest_value<ExploredWith<without_acquire>>(Loads::kNewest, 1, 3, 2).failure,
            "");
}

// ---- the queues ----

template <typename Queue>
Outcome explore_queue(Loads loads, int producers, int pushes, int pops, std::size_t capacity) {
  return Explorer::explore(loads, [=](Explorer& run) {
    Queue queue(capacity);
    Ghost begun{0};   // pushes
    Ghost popped{0};  // and over
    const bool in_order = loads == Loads::kNewest;
    int accepted[3][8] = {};
    int count[3] = {};
    int received[3] = {};
    const auto take = [&](int value) {
      const int producer = value / 10;
      const int index = received[producer]++;
      Explorer::check(index < 8 && value > 0, "a value that nobody pushed");
      Explorer::check(accepted[producer][index] == value || accepted[producer][index] == 0,
                      "not in the producer's order");
      accepted[producer][index] = value;
    };
    for (int p = 1; p <= producers; ++p) {
      run.spawn([&, p] {
        for (int i = 1; i <= pushes; ++i) {
          const int gone = in_order ? popped.load(std::memory_order_relaxed) : 0;
          if (in_order) {
            begun.fetch_add(1, std::memory_order_relaxed);
          }
          const int value = 10 * p + i;
          if (queue.try_push(value)) {
            int& known = accepted[p][count[p]++];
            Explorer::check(known == value || known == 0, "not in the producer's order");
            known = value;
          } else if (in_order) {
            const int in = begun.fetch_add(-1, std::memory_order_relaxed) - 1;
            Explorer::check(in - gone >= static_cast<int>(queue.capacity()), "full with room left");
          }
        }
      });
    }
    run.spawn([&] {
      for (int i = 0; i < pops; ++i) {
        int value = 0;
        if (queue.try_pop(value)) {
          take(value);
          if (in_order) {
            popped.fetch_add(1, std::memory_order_relaxed);
          }
        }
      }
    });
    run.run();
    for (int value = 0; queue.try_pop(value);) {
      take(value);
    }
    for (int p = 1; p <= producers; ++p) {
      Explorer::check(received[p] == count[p], "lost or doubled");
    }
  });
}

TEST_F(EveryInterleaving, OfMpscQueueLosesNothingAndKeepsOrder) {
  using Queue = MpscQueue<int, Explored>;
  expect_correct(explore_queue<Queue>(Loads::kNewest, 2, 2, 2, 2), 1000);
  expect_correct(explore_queue<Queue>(Loads::kNewest, 1, 4, 4, 2), 100);
}

TEST_F(EveryInterleaving, OfMpscQueueOnAWeakMachineIsFreeOfRaces) {
  using Queue = MpscQueue<int, Explored>;
  expect_correct(explore_queue<Queue>(Loads::kAnyAllowed, 2, 2, 1, 2), 1000);
  expect_correct(explore_queue<Queue>(Loads::kAnyAllowed, 1, 4, 3, 2), 50);
}

TEST_F(EveryInterleaving, FindsMpscQueueWrongWithoutItsReleasesOrItsAcquires) {
  using NoRelease = MpscQueue<int, ExploredWith<test::without_release>>;
  using NoAcquire = MpscQueue<int, ExploredWith<test::without_acquire>>;
  EXPECT_NE(explore_queue<NoRelease>(Loads::kNewest, 1, 1, 1, 2).failure, "");
  EXPECT_NE(explore_queue<NoAcquire>(Loads::kNewest, 1, 1, 1, 2).failure, "");
}

TEST_F(EveryInterleaving, OfSpscQueueLosesNothingAndKeepsOrder) {
  using Queue = SpscQueue<int, Explored>;
  expect_correct(explore_queue<Queue>(Loads::kNewest, 1, 3, 3, 2), 50);
  expect_correct(explore_queue<Queue>(Loads::kAnyAllowed, 1, 3, 3, 1), 50);
  expect_correct(explore_queue<Queue>(Loads::kAnyAllowed, 1, 4, 4, 2), 100);
}

TEST_F(EveryInterleaving, FindsSpscQueueWrongWithoutItsReleasesOrItsAcquires) {
  using NoRelease = SpscQueue<int, ExploredWith<test::without_release>>;
  using NoAcquire = SpscQueue<int, ExploredWith<test::without_acquire>>;
  EXPECT_NE(explore_queue<NoRelease>(Loads::kNewest, 1, 1, 1, 2).failure, "");
  EXPECT_NE(explore_queue<NoAcquire>(Loads::kNewest, 1, 1, 1, 2).failure, "");
}

/// Vyukov's queue with the mistakes that people make: it says "there is a value" before the value
/// is there, or claims a cell with a load and a store, or has one cell only.
enum class Mistake { kNone, kPublishesFirst, kClaimsInTwoSteps };

template <Mistake mistake>
class WrongQueue {
 public:
  explicit WrongQueue(std::size_t capacity) : mask_(capacity - 1) {
    for (std::size_t i = 0; i < capacity; ++i) {
      cells_[i].sequence.store(i, std::memory_order_relaxed);
    }
  }
  std::size_t capacity() const { return mask_ + 1; }

  bool try_push(int value) {
    std::size_t position = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[position & mask_];
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence < position) {
        return false;
      }
      if (sequence > position) {
        position = head_.load(std::memory_order_relaxed);
        continue;
      }
      if (mistake == Mistake::kClaimsInTwoSteps) {
        head_.store(position + 1, std::memory_order_relaxed);
      } else if (!head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        continue;
      }
      if (mistake == Mistake::kPublishesFirst) {
        cell.sequence.store(position + 1, std::memory_order_release);
      }
      Explored::writing(cell.value);
      cell.value = value;
      if (mistake != Mistake::kPublishesFirst) {
        cell.sequence.store(position + 1, std::memory_order_release);
      }
      return true;
    }
  }

  bool try_pop(int& value) {
    Cell& cell = cells_[tail_ & mask_];
    if (cell.sequence.load(std::memory_order_acquire) != tail_ + 1) {
      return false;
    }
    Explored::reading(cell.value);
    value = cell.value;
    cell.sequence.store(tail_ + mask_ + 1, std::memory_order_release);
    ++tail_;
    return true;
  }

 private:
  struct Cell {
    Explored::Atomic<std::size_t> sequence{0};
    int value = 0;
  };
  std::size_t mask_;
  Cell cells_[4];
  Explored::Atomic<std::size_t> head_{0};
  std::size_t tail_ = 0;
};

TEST_F(EveryInterleaving, FindsTheMistakesThatPeopleMakeInSuchAQueue) {
  const auto failure = [](auto queue, std::size_t capacity) {
    return explore_queue<typename decltype(queue)::type>(Loads::kNewest, 2, 2, 2, capacity).failure;
  };
  using std::type_identity;
  expect_correct(explore_queue<WrongQueue<Mistake::kNone>>(Loads::kNewest, 2, 1, 2, 2), 50);
  EXPECT_NE(failure(type_identity<WrongQueue<Mistake::kPublishesFirst>>(), 2), "");
  EXPECT_NE(failure(type_identity<WrongQueue<Mistake::kClaimsInTwoSteps>>(), 2), "");
  EXPECT_NE(failure(type_identity<WrongQueue<Mistake::kNone>>(), 1), "");  // see MpscQueue
}

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

/// Where people go wrong: looking at the condition before they say that they wait.
enum class Look { kAfterPrepare, kBeforePrepare };

/// Each notifier adds an item and notifies one; the waiter takes one, and waits for it. Should it
/// sleep although there is one, the explorer finds it: everybody sleeps then.
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
