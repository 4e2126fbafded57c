// SPDX-License-Identifier: Apache-2.0
// Further behaviour of rclcpp's executors: late timers, several threads, arbitrary order. The
// peculiarities are in wait_set_peculiarities_test.cpp.
#include "rclrt/executor/wait_set_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fake_readiness.hpp"
#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class WaitSet : public ::testing::Test {
 protected:
  void make(WaitSetOptions wait_set) {
    auto readiness = std::make_unique<FakeReadiness>();
    source = readiness.get();
    ExecutorOptions options = on_all_cpus();
    options.realtime = Realtime::kOff;  // the threads take turns where there is only one CPU
    executor = std::make_unique<WaitSetExecutor>(options, std::move(readiness), wait_set);
  }

  std::shared_ptr<TestCallback> add(const std::string& name, std::function<void()> body,
                                    std::shared_ptr<Group> group = nullptr) {
    CallbackOptions options = named(name);
    options.group = std::move(group);
    all.push_back(std::make_shared<TestCallback>(
        options, [this, index = all.size(), body = std::move(body)](const InstanceInfo&) {
          source->take_message(*all[index]);
          body();
        }));
    executor->add(all.back());
    return all.back();
  }

  /// Runs eight callbacks that are all ready, twice.
  std::vector<std::string> two_sets() {
    std::vector<std::string> order;
    for (int i = 0; i < 8; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      add(name, [&order, name] { order.push_back(name); });
    }
    executor->prepare();
    for (int set = 0; set < 2; ++set) {
      for (const auto& each : all) {
        source->add_message(*each);
      }
      executor->spin_some();
    }
    all.clear();
    return order;
  }

  FakeReadiness* source = nullptr;
  std::unique_ptr<WaitSetExecutor> executor;
  std::vector<std::shared_ptr<TestCallback>> all;
};

TEST_F(WaitSet, ALateTimerRunsOnceAndTheReleasesItMissedAreDropped) {
  const std::int64_t period = 50'000'000;
  ExecutorOptions options = on_one_cpu();
  // 4.5 periods ago: the releases at 0..4 periods are due, the next is half a period away.
  std::int64_t epoch_ns = 0;
  options.epoch = [&] { return epoch_ns = realtime::monotonic_now_ns() - 4 * period - period / 2; };
  WaitSetExecutor late(options, std::make_unique<FakeReadiness>());
  std::vector<std::int64_t> releases;
  const auto timer = std::make_shared<TestTimer>(
      timer_named("t"), TimerOptions{.period_ns = period}, [&](const InstanceInfo& info) {
        releases.push_back(info.release_ns - epoch_ns);
        if (releases.size() == 2) {
          late.cancel();
        }
      });
  late.add(timer);
  late.spin();
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases[0], 0);
  EXPECT_EQ(releases[1] % period, 0);
  EXPECT_GE(releases[1], 5 * period);
  EXPECT_EQ(timer->counters().dropped, static_cast<std::uint64_t>(releases[1] / period - 1));
}

TEST_F(WaitSet, ThreadsDrawFromOneSet) {
  make({.threads = 2});
  std::atomic<int> inside{0};
  std::atomic<int> met{0};
  const auto meet = [&] {
    ++inside;
    met += busy_until([&] { return inside.load() == 2; }) ? 1 : 0;
  };
  const auto a = add("a", meet);
  const auto b = add("b", meet);
  executor->prepare();
  source->add_message(*a);
  source->add_message(*b);
  executor->spin_some();
  EXPECT_EQ(met.load(), 2);
}

TEST_F(WaitSet, OneThreadRunsOneCallbackAtATime) {
  make({.threads = 1});
  int inside = 0;
  int overlaps = 0;
  const auto body = [&] {
    overlaps += ++inside > 1 ? 1 : 0;
    busy_for(100'000);
    --inside;
  };
  for (const char* name : {"a", "b", "c"}) {
    add(name, body, std::make_shared<Group>(GroupType::kReentrant));
  }
  executor->prepare();
  for (const auto& each : all) {
    source->add_message(*each);
  }
  executor->spin_some();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(all[2]->counters().completed, 1U);
}

TEST_F(WaitSet, AnEntityWhoseGroupIsBusyIsSkippedAndStaysInTheSet) {
  make({.threads = 2});
  const auto group = std::make_shared<Group>();
  std::atomic<bool> other_ran{false};
  bool met = false;
  bool first_inside = false;
  bool overlapped = false;
  const auto first = add(
      "first",
      [&] {
        first_inside = true;
        met = busy_until([&] { return other_ran.load(); });
        first_inside = false;
      },
      group);
  const auto second = add("second", [&] { overlapped = first_inside; }, group);
  const auto other = add("other", [&] { other_ran = true; });
  executor->prepare();
  for (const auto& each : {first, second, other}) {
    source->add_message(*each);
  }
  executor->spin_some();
  EXPECT_TRUE(met);
  EXPECT_FALSE(overlapped);
  EXPECT_EQ(second->counters().completed, 1U);
}

TEST_F(WaitSet, WhoLeavesAGroupWakesTheThreadThatWaits) {
  make({.threads = 2});
  const auto group = std::make_shared<Group>();
  std::shared_ptr<TestCallback> second;
  const auto first = add(
      "first",
      [&] {
        source->add_message(*second);  // the other thread may not take it
        busy_for(2'000'000);
      },
      group);
  second = add("second", [&] { executor->cancel(); }, group);
  executor->prepare();
  source->add_message(*first);
  executor->spin();
  EXPECT_EQ(second->counters().completed, 1U);
}

TEST_F(WaitSet, MembersOfAGroupNeverOverlapWithManyThreads) {
  make({.threads = 4});
  const auto group = std::make_shared<Group>();
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> left{200};
  for (int i = 0; i < 3; ++i) {
    add(
        std::to_string(i),
        [&] {
          overlaps += inside.fetch_add(1) != 0 ? 1 : 0;
          inside.fetch_sub(1);
          if (left.fetch_sub(1) == 1) {
            executor->cancel();
          }
        },
        group);
  }
  executor->prepare();
  for (int i = 0; i < 300; ++i) {
    source->add_message(*all[static_cast<std::size_t>(i) % 3]);
  }
  executor->spin();
  EXPECT_EQ(overlaps.load(), 0);
}

TEST_F(WaitSet, ACallbackRemovedWhileManyThreadsRunIsQuietAfterwards) {
  make({.threads = 3});
  std::atomic<int> runs{0};
  const auto callback = add("c", [&] { ++runs; });
  Spinning spin(*executor);
  for (int i = 0; i < 50; ++i) {
    source->add_message(*callback);
  }
  ASSERT_TRUE(eventually([&] { return runs > 3; }));
  EXPECT_TRUE(executor->remove(callback));
  const int after = runs;
  for (int i = 0; i < 50; ++i) {
    source->add_message(*callback);
  }
  EXPECT_FALSE(executor->remove(callback));
  EXPECT_EQ(runs, after);
  EXPECT_EQ(callback->counters().pending(), 0U);
}

TEST_F(WaitSet, AnArbitraryOrderIsTheSameAtEachPollingPointAndForEachSeed) {
  make({.order = WaitSetOrder::kArbitrary, .seed = 1});
  const auto once = two_sets();
  ASSERT_EQ(once.size(), 16U);
  EXPECT_TRUE(std::equal(once.begin(), once.begin() + 8, once.begin() + 8));
  make({.order = WaitSetOrder::kArbitrary, .seed = 1});
  EXPECT_EQ(two_sets(), once);
  EXPECT_FALSE(std::is_sorted(once.begin(), once.begin() + 8));  // not the order of registration
  make({.order = WaitSetOrder::kArbitrary, .seed = 2});
  EXPECT_NE(two_sets(), once);
}

TEST_F(WaitSet, SpinOnceRunsOneInstanceOfSeveralThatAreReady) {
  make({});
  const auto a = add("a", [] {});
  const auto b = add("b", [] {});
  executor->prepare();
  source->add_message(*a);
  source->add_message(*b);
  EXPECT_TRUE(executor->spin_once());
  EXPECT_EQ(a->counters().completed + b->counters().completed, 1U);
  EXPECT_TRUE(executor->spin_once());
  EXPECT_EQ(a->counters().completed + b->counters().completed, 2U);
  EXPECT_FALSE(executor->spin_once(std::chrono::nanoseconds(0)));
}

TEST_F(WaitSet, WhatASpinLeftInTheSetDoesNotRunAfterItsRemoval) {
  make({});
  const auto a = add("a", [] {});
  const auto b = add("b", [] {});
  executor->prepare();
  source->add_message(*a);
  source->add_message(*b);
  ASSERT_TRUE(executor->spin_once());
  executor->remove(b);
  executor->spin_some();
  EXPECT_EQ(a->counters().completed, 1U);
  EXPECT_EQ(b->counters().completed, 0U);
}

TEST_F(WaitSet, NoThreadsAreRefused) {
  EXPECT_THAT([&] { make({.threads = 0}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "a wait set executor needs at least one thread; set WaitSetOptions::threads")));
}

}  // namespace
}  // namespace rclrt::executor::test
