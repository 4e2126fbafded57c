// SPDX-License-Identifier: Apache-2.0
// Litmus tests of executions that the standard allows or forbids: the explorer must agree.
#include "interleaving_explorer.hpp"
#include "sanitizer_fibres.hpp"

#include <gtest/gtest.h>

#include "explored_atomics.hpp"

namespace rclrt::test {
namespace {

using Loads = Explorer::Loads;
using Outcome = Explorer::Outcome;
class ExplorerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kFibresConfuseTheSanitizer) {
      GTEST_SKIP() << "this sanitizer does not understand fibres";
    }
  }
};

using Flag = Explored::Atomic<int>;

/// Runs two threads and returns whether some execution ends with `wanted()`.
template <typename Make>
bool possible(Loads loads, Make make) {
  bool seen = false;
  const Outcome outcome =
      Explorer::explore(loads, [&](Explorer& run) { seen = make(run) || seen; });
  EXPECT_TRUE(outcome.exhausted) << outcome.failure;
  return seen;
}

bool store_buffering(Explorer& run, std::memory_order order) {
  Flag x{0};
  Flag y{0};
  int a = -1;
  int b = -1;
  const auto load_order = order == std::memory_order_release ? std::memory_order_acquire : order;
  run.spawn([&] { x.store(1, order), a = y.load(load_order); });
  run.spawn([&] { y.store(1, order), b = x.load(load_order); });
  run.run();
  return a == 0 && b == 0;
}

TEST_F(ExplorerTest, SeesBothStoresDelayedUnlessTheyAreSeqCst) {
  EXPECT_TRUE(possible(Loads::kAnyAllowed, [](Explorer& run) {
    return store_buffering(run, std::memory_order_release);
  }));
  EXPECT_FALSE(possible(Loads::kAnyAllowed, [](Explorer& run) {
    return store_buffering(run, std::memory_order_seq_cst);
  }));
  EXPECT_FALSE(possible(Loads::kNewest, [](Explorer& run) {
    return store_buffering(run, std::memory_order_relaxed);
  }));
}

bool message_lost(Explorer& run, std::memory_order store, std::memory_order load) {
  Flag data{0};
  Flag ready{0};
  bool lost = false;
  run.spawn([&] {
    data.store(1, std::memory_order_relaxed);
    ready.store(1, store);
  });
  run.spawn([&] { lost = ready.load(load) == 1 && data.load(std::memory_order_relaxed) == 0; });
  run.run();
  return lost;
}

TEST_F(ExplorerTest, LosesAMessageUnlessItIsReleasedAndAcquired) {
  const auto lost = [](std::memory_order store, std::memory_order load) {
    return possible(Loads::kAnyAllowed,
                    [&](Explorer& run) { return message_lost(run, store, load); });
  };
  EXPECT_FALSE(lost(std::memory_order_release, std::memory_order_acquire));
  EXPECT_TRUE(lost(std::memory_order_relaxed, std::memory_order_acquire));
  EXPECT_TRUE(lost(std::memory_order_release, std::memory_order_relaxed));
}

TEST_F(ExplorerTest, NeverGoesBackToAnOlderStoreOfOneVariable) {
  EXPECT_FALSE(possible(Loads::kAnyAllowed, [](Explorer& run) {
    Flag x{0};
    int first = 0;
    int second = 0;
    run.spawn([&] {
      x.store(1, std::memory_order_relaxed);
      x.store(2, std::memory_order_relaxed);
    });
    run.spawn([&] {
      first = x.load(std::memory_order_relaxed);
      second = x.load(std::memory_order_relaxed);
    });
    run.run();
    return second < first;
  }));
}

TEST_F(ExplorerTest, CountsTheInterleavingsOfDependentStores) {
  // Two threads with two stores each to one variable: 4! / (2! 2!) = 6.
  const Outcome outcome = Explorer::explore(Loads::kNewest, [](Explorer& run) {
    Flag x{0};
    for (int i = 0; i < 2; ++i) {
      run.spawn([&] { x.store(1), x.store(2); });
    }
    run.run();
  });
  EXPECT_EQ(outcome.executions, 6U);
  // To two variables: all orders are alike.
  const Outcome independent = Explorer::explore(Loads::kNewest, [](Explorer& run) {
    Flag x{0};
    Flag y{0};
    run.spawn(
        [&] { x.store(1, std::memory_order_release), x.store(2, std::memory_order_release); });
    run.spawn(
        [&] { y.store(1, std::memory_order_release), y.store(2, std::memory_order_release); });
    run.run();
  });
  EXPECT_EQ(independent.executions, 1U);
}

TEST_F(ExplorerTest, FindsARaceInWhicheverOrderItsAccessesHappen) {
  for (const bool writer_first : {true, false}) {
    const Outcome outcome = Explorer::explore(Loads::kNewest, [&](Explorer& run) {
      int shared = 0;
      const auto write = [&] { Explored::writing(shared); };
      const auto read = [&] { Explored::reading(shared); };
      run.spawn([&] { writer_first ? write() : read(); });
      run.spawn([&] { writer_first ? read() : write(); });
      run.run();
    });
    EXPECT_NE(outcome.failure, "");
  }
}

TEST_F(ExplorerTest, StopsAtItsLimitAndSaysThatItIsNotDone) {
  const auto program = [](Explorer& run) {
    Flag x{0};
    for (int i = 0; i < 2; ++i) {
      run.spawn([&] { x.store(1), x.store(2); });
    }
    run.run();
  };
  EXPECT_FALSE(Explorer::explore(Loads::kNewest, program, 5).exhausted);
}

}  // namespace
}  // namespace rclrt::test
