// SPDX-License-Identifier: Apache-2.0
// The number of threads of a level: as many as can have work at the same time, and no more.
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "level_threads.hpp"
#include "rclrt/executor/preemptive_executor.hpp"
#include "rclrt/executor/producer_consumer_executor.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

inline constexpr std::array<std::string_view, 2> kWithLevels{"preemptive", "producer_consumer"};

class WorkerCount : public KindTest {
 protected:
  /// Returns options with a name of their own: threads of an ended executor may still be listed.
  static ExecutorOptions with_workers(std::size_t workers) {
    static int number = 0;
    auto options = on_one_cpu();
    options.name = "w" + std::to_string(++number);
    options.workers_per_level = workers;
    return options;
  }

  std::shared_ptr<TestCallback> callback(const std::string& name, int level,
                                         std::shared_ptr<Group> group = nullptr,
                                         std::size_t credits = 10) const {
    return std::make_shared<TestCallback>(named(name, level, credits, std::move(group)),
                                          [](const InstanceInfo&) {});
  }
};
INSTANTIATE_TEST_SUITE_P(, WorkerCount, ::testing::ValuesIn(kWithLevels), kind_name);

TEST_P(WorkerCount, ALevelHasNoMoreWorkersThanInstancesThatCanRunAtOnce) {
  auto executor = make(GetParam(), with_workers(3));
  const auto group = std::make_shared<Group>();
  executor->add(callback("alone", 1));
  executor->add(callback("first", 2, group));
  executor->add(callback("second", 2, group));
  executor->add(callback("third", 3));
  executor->add(callback("fourth", 3, group));
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    executor->add(callback(name, 4));
  }
  // Its queue has room for one, which waits; any number may run.
  executor->add(callback("often", 5, std::make_shared<Group>(GroupType::kReentrant), 1));
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually_has(*executor, {{"L1", 1}, {"L2", 1}, {"L3", 2}, {"L4", 3}, {"L5", 3}}));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAddsToStacks = true;  // the variables of a sanitizer's run-time library
#else
constexpr bool kAddsToStacks = false;
#endif

/// Bytes of the calling thread's stack.
std::size_t own_stack() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return size;
}

TEST(MemoryOfWorkers, OfAThousandCallbacksOnFortyLevelsAndSixteenCpusIsBounded) {
  constexpr std::size_t kCpus = 16;  // in place of the machine's: as many may work in each level
  constexpr std::size_t kStack = std::size_t{112} << 10;  // what rclrt_runner states
  ExecutorOptions options = on_one_cpu();
  options.name = "m";
  options.workers_per_level = kCpus;
  options.stack_size = kStack;
  options.prefault = 0;
  PreemptiveExecutor executor(options);
  // Each thread adds its stack, and keeps its callback until all threads have one.
  std::mutex mutex;
  std::map<std::thread::id, std::size_t> stacks;
  const auto all = [&] {
    const std::scoped_lock lock(mutex);
    return stacks.size() == 40 * kCpus;
  };
  std::condition_variable changed;
  std::vector<std::shared_ptr<TestCallback>> callbacks;
  for (int i = 0; i < 1000; ++i) {
    callbacks.push_back(std::make_shared<TestCallback>(
        named("c" + std::to_string(i), i % 40), [&](const InstanceInfo&) {
          const std::size_t own = own_stack();
          std::unique_lock lock(mutex);
          stacks[std::this_thread::get_id()] = own;
          if (stacks.size() == 40 * kCpus) {
            changed.notify_all();
          }
          EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(120),
                                       [&] { return stacks.size() == 40 * kCpus; }));
        }));
    executor.add(callbacks.back());
  }
  executor.prepare();
  for (const auto& each : callbacks) {
    each->release_now();
  }
  const Spinning spinning(executor);
  Counts expected;
  for (int level = 0; level < 40; ++level) {
    expected["L" + std::to_string(level)] = kCpus;
  }
  EXPECT_TRUE(eventually(all));
  EXPECT_TRUE(eventually_has(executor, expected));
  std::size_t sum = 0;
  for (const auto& [thread, size] : stacks) {
    sum += size;
  }
  if (!kAddsToStacks) {
    EXPECT_LT(sum, 80'000'000U);
  }
}

TEST_P(WorkerCount, ACallbackThatCanRunBesideTheOthersBringsAWorker) {
  auto executor = make(GetParam(), with_workers(2));
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  executor->add(first);
  executor->prepare();
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually_has(*executor, {{"L1", 1}}));
  first->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 1; }));
  executor->add(second);
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
  EXPECT_TRUE(eventually_has(*executor, {{"L1", 2}}));
}

TEST_P(WorkerCount, ACallbackRunsBesideOneThatHasLeftItsLevel) {
  auto executor = make(GetParam(), with_workers(2));
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  executor->add(first);
  executor->prepare();
  const Spinning spinning(*executor);
  first->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 1; }));
  executor->set_level(first, 2);
  executor->add(second);
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
}

TEST_P(WorkerCount, WhatWaitsAtALevelThatItsCallbackHasLeftRuns) {
  auto executor = make(GetParam(), with_workers(2));
  std::atomic<int> runs{0};
  const auto moved =
      std::make_shared<TestCallback>(named("moved", 1), [&](const InstanceInfo&) { ++runs; });
  executor->add(moved);
  executor->prepare();
  moved->release_now();
  executor->set_level(moved, 2);
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually([&] { return runs == 1; }));
}

}  // namespace
}  // namespace rclrt::executor::test
