// SPDX-License-Identifier: Apache-2.0
// The workers of a level that sleep on different CPUs, and which of them a release wakes.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "all_executors.hpp"
#include "level_threads.hpp"
#include "rclrt/executor/preemptive_executor.hpp"
#include "rclrt/executor/producer_consumer_executor.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

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

  /// Returns the CPU on which an instance runs that a thread on the CPU `own` releases.
  /// `priority` is the SCHED_FIFO priority of that thread; 0: normal scheduling.
  int cpu_of_release(int own, int priority) {
    PreemptiveExecutor executor(options_);
    std::atomic<int> cpu{-1};
    const auto callback = std::make_shared<TestCallback>(
        named("urgent", 1), [&](const InstanceInfo&) { cpu = sched_getcpu(); });
    executor.add(callback);
    executor.prepare();
    const Spinning spinning(executor);
    callback->release_now();  // it runs: no worker waits for the start any more
    EXPECT_TRUE(eventually([&] { return cpu != -1; }));
    EXPECT_TRUE(eventually([&] { return sleeping_threads(executor) == 2; }));
    cpu = -1;
    realtime::ThreadOptions options{.name = "releases"};
    options.scheduling.cpus = {own};
    if (priority != 0) {
      options.scheduling.policy = realtime::Policy::kFifo;
      options.scheduling.priority = priority;
    }
    realtime::Thread(options, [&] {
      // Not pinned any more: a worker does not preempt a SCHED_FIFO thread that cannot move.
      cpu_set_t both;
      CPU_ZERO(&both);
      CPU_SET(options_.cpus[0], &both);
      CPU_SET(options_.cpus[1], &both);
      EXPECT_EQ(sched_setaffinity(0, sizeof both, &both), 0);
      callback->release_now();
      EXPECT_TRUE(eventually([&] { return cpu != -1; }));
    }).join();
    return cpu;
  }

  /// Expects that an instance runs on another CPU than that of the thread that releases it.
  void expect_on_other_cpu(int priority) {
    for (const int own : options_.cpus) {
      const int other = own == options_.cpus[0] ? options_.cpus[1] : options_.cpus[0];
      EXPECT_TRUE(eventually([&] { return cpu_of_release(own, priority) == other; }));
    }
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

TEST_F(WorkerOfEachCpu, AShortSpinStartsNoWorkersThatOnlySleep) {
  PreemptiveExecutor executor(options_);
  int threads = 0;
  const auto callback = std::make_shared<TestCallback>(
      named("alone", 1), [&](const InstanceInfo&) { threads = count_threads(executor)["L1"]; });
  executor.add(callback);
  executor.prepare();
  callback->release_now();
  EXPECT_TRUE(executor.spin_once(std::chrono::seconds(60)));
  EXPECT_EQ(threads, 1);
}

TEST_F(WorkerOfEachCpu, WorkersMayRunOnAllCpusOfTheExecutor) {
  PreemptiveExecutor executor(options_);
  executor.add(std::make_shared<TestCallback>(named("alone", 1), [](const InstanceInfo&) {}));
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually_has(executor, {{"L1", 2}}));
  EXPECT_TRUE(eventually([&] {
    int free = 0;
    for_each_thread(executor, [&](pid_t thread, const std::string& /*level*/) {
      cpu_set_t cpus;
      CPU_ZERO(&cpus);
      sched_getaffinity(thread, sizeof cpus, &cpus);
      free += CPU_COUNT(&cpus) == 2 ? 1 : 0;
    });
    return free == 2;
  }));
}

TEST_F(WorkerOfEachCpu, AnInstanceRunsOnTheCpuOfALessUrgentThreadThatReleasesIt) {
  for (const int own : options_.cpus) {
    // In a new executor each: another process may have moved workers to one CPU.
    EXPECT_TRUE(eventually([&] { return cpu_of_release(own, 1) == own; }));
  }
}

TEST_F(WorkerOfEachCpu, AThreadOfNormalPriorityIsNotPreemptedByTheInstanceThatItReleases) {
  // The kernel would not move it to another CPU at once.
  expect_on_other_cpu(0);
}

TEST_F(WorkerOfEachCpu, AThreadThatIsMoreUrgentWakesAWorkerOfAnotherCpu) {
  expect_on_other_cpu(options_.top_priority);
}

TEST_F(WorkerOfEachCpu, ACallbackThatComesRunsOnAWorkerThatSleptUntilThen) {
  PreemptiveExecutor executor(options_);
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  executor.add(first);
  executor.prepare();
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually_has(executor, {{"L1", 2}}));
  first->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 1; }));
  executor.add(second);
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
  EXPECT_TRUE(eventually_has(executor, {{"L1", 2}}));
}

TEST_F(WorkerOfEachCpu, ACallbackRunsBesideOneThatHasLeftItsLevel) {
  PreemptiveExecutor executor(options_);
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  executor.add(first);
  executor.prepare();
  const Spinning spinning(executor);
  first->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 1; }));
  executor.set_level(first, 2);
  executor.add(second);
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
}

TEST_F(WorkerOfEachCpu, AWorkerThatStartsLaterDoesNotWaitForAMoreUrgentCallback) {
  PreemptiveExecutor executor(options_);
  std::atomic<bool> burns{false};
  std::atomic<int> runs{0};
  std::atomic<int> runs_meanwhile{0};
  const auto urgent = std::make_shared<TestCallback>(named("urgent", 9), [&](const InstanceInfo&) {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(options_.cpus[0], &first);
    EXPECT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    burns = true;
    const std::int64_t limit_ns = realtime::monotonic_now_ns() + 10'000'000'000;
    while (runs < 2 && realtime::monotonic_now_ns() < limit_ns) {
    }
    runs_meanwhile = runs.load();
  });
  executor.add(urgent);
  executor.prepare();
  const Spinning spinning(executor);
  urgent->release_now();
  EXPECT_TRUE(eventually([&] { return burns.load(); }));
  for (const int level : {1, 2}) {
    const auto later = std::make_shared<TestCallback>(named("later" + std::to_string(level), level),
                                                      [&](const InstanceInfo&) { ++runs; });
    executor.add(later);
    later->release_now();
  }
  EXPECT_TRUE(eventually([&] { return runs == 2 && runs_meanwhile != 0; }));
  EXPECT_EQ(runs_meanwhile, 2);
}

TEST_F(WorkerOfEachCpu, ASpinFromAThreadWithMoreCpusThanThePreparingOneUsesThem) {
  const std::vector<int> cpus = std::exchange(options_.cpus, {});
  PreemptiveExecutor executor(options_);
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  const auto third = std::make_shared<TestCallback>(named("third", 1), [](const InstanceInfo&) {});
  for (const auto& each : {first, second, third}) {
    executor.add(each);
  }
  realtime::ThreadOptions on_one{.name = "prepares"};
  on_one.scheduling.cpus = {cpus[0]};
  realtime::Thread(on_one, [&] { executor.prepare(); }).join();
  const Spinning spinning(executor);
  const int workers = static_cast<int>(std::min<std::size_t>(realtime::allowed_cpus().size(), 3));
  EXPECT_TRUE(eventually([&] { return count_threads(executor)["L1"] >= workers; }));
  first->release_now();
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
}

}  // namespace
}  // namespace rclrt::executor::test
