// SPDX-License-Identifier: Apache-2.0
// The number of threads of a level: as many as can have work at the same time, and no more.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "all_executors.hpp"
#include "rclrt/executor/preemptive_executor.hpp"
#include "rclrt/executor/producer_consumer_executor.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

inline constexpr std::array<std::string_view, 2> kWithLevels{"preemptive", "producer_consumer"};

using Counts = std::map<std::string, int>;

/// Returns whether, at last, each level has this number of threads. A thread sets its name when it
/// has begun.
bool eventually_has(const Executor& executor, const Counts& expected) {
  const std::string prefix = executor.options().name + " L";
  Counts found;
  const bool has = eventually([&] {
    found.clear();
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      if (name.starts_with(prefix)) {
        ++found[name.substr(prefix.size() - 1)];
      }
    }
    return found == expected;
  });
  EXPECT_EQ(found, expected);
  return has;
}

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

/// Bytes of the stacks of all threads of the executor.
std::size_t bytes_of_stacks(const Counts& threads, std::size_t stack_size) {
  std::size_t sum = 0;
  for (const auto& [level, count] : threads) {
    sum += static_cast<std::size_t>(count) * stack_size;
  }
  return sum;
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
  std::mutex mutex;
  std::size_t stack = 0;
  const auto asks = std::make_shared<TestCallback>(named("asks", 0), [&](const InstanceInfo&) {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    std::size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    const std::scoped_lock lock(mutex);
    stack = size;
  });
  executor.add(asks);
  for (int i = 1; i < 1000; ++i) {
    executor.add(std::make_shared<TestCallback>(named("c" + std::to_string(i), i % 40),
                                                [](const InstanceInfo&) {}));
  }
  executor.prepare();
  asks->release_now();
  const Spinning spinning(executor);
  Counts expected;
  for (int level = 0; level < 40; ++level) {
    expected["L" + std::to_string(level)] = kCpus;
  }
  EXPECT_TRUE(eventually_has(executor, expected));
  EXPECT_TRUE(eventually([&] {
    const std::scoped_lock lock(mutex);
    return stack != 0;
  }));
  if (!kAddsToStacks) {
    EXPECT_LE(stack, kStack);
  }
  EXPECT_LT(bytes_of_stacks(expected, kStack), 80'000'000U);
}

class WorkerOfEachCpu : public ::testing::Test {
 protected:
  void SetUp() override {
    RCLRT_SKIP_WITHOUT_REALTIME();
    const auto cpus = realtime::allowed_cpus();
    if (cpus.size() < 2) {
      GTEST_SKIP() << "one CPU";
    }
    static int number = 0;
    options_.name = "e" + std::to_string(++number);
    options_.spare_workers = 0;
    options_.cpus = {cpus[0], cpus[1]};
  }
  ExecutorOptions options_;
};

TEST_F(WorkerOfEachCpu, ALevelOfPreemptiveHasAWorkerForEachCpu) {
  PreemptiveExecutor executor(options_);
  executor.add(std::make_shared<TestCallback>(named("alone", 1), [](const InstanceInfo&) {}));
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually_has(executor, {{"L1", 2}}));
}

TEST_F(WorkerOfEachCpu, ALevelOfProducerConsumerHasOneAsPublished) {
  ProducerConsumerExecutor executor(options_);
  executor.add(std::make_shared<TestCallback>(named("alone", 1), [](const InstanceInfo&) {}));
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually_has(executor, {{"L1", 1}}));
}

TEST_F(WorkerOfEachCpu, AnInstanceRunsOnTheCpuOfALessUrgentThreadThatReleasesIt) {
  PreemptiveExecutor executor(options_);
  std::atomic<int> cpu{-1};
  const auto callback = std::make_shared<TestCallback>(
      named("urgent", 1), [&](const InstanceInfo&) { cpu = sched_getcpu(); });
  executor.add(callback);
  executor.prepare();
  const Spinning spinning(executor);
  for (int i = 0; i < 10; ++i) {
    const int own = options_.cpus[static_cast<std::size_t>(i) % 2];
    EXPECT_TRUE(eventually([&] {  // the thread of another process may run there
      bool is_there = false;
      std::thread([&] {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(own, &only);
        is_there = sched_setaffinity(0, sizeof only, &only) == 0;
        cpu = -1;
        callback->release_now();
        is_there &= eventually([&] { return cpu != -1; });
      }).join();
      return is_there && cpu == own;
    }));
  }
}

/// Two callbacks, each of which waits until the other runs, too.
struct Meeting {
  std::atomic<int> inside{0};
  std::shared_ptr<TestCallback> member(const std::string& name) {
    return std::make_shared<TestCallback>(named(name, 1), [this](const InstanceInfo&) {
      ++inside;
      EXPECT_TRUE(eventually([this] { return inside == 2; }));
    });
  }
};

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
