// SPDX-License-Identifier: Apache-2.0
// The queues and values under every interleaving of a small case, and proof that the explorer finds
// mistakes in them.
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "every_interleaving.hpp"
#include "rclrt/realtime/latest_value.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/spsc_queue.hpp"

namespace rclrt::realtime {
namespace {

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
      Explorer::check(index < 8 && value > 0, "a value that was not pushed");
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

/// Vyukov's queue with typical mistakes: it announces a value before the value is stored, or claims
/// a cell with a load and a store, or has only one cell.
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

}  // namespace
}  // namespace rclrt::realtime
