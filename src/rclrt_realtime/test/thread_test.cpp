// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread.hpp"

#include <alloca.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Thread, HasItsNamePolicyPriorityAndCpuFromItsFirstInstruction) {
  if (const auto reason = why_no_realtime(7)) {
    GTEST_SKIP() << *reason;
  }
  const Scheduling wanted{Policy::kFifo, 7, {allowed_cpus().front()}};
  Scheduling found;
  std::string name;
  Thread({.name = "a_name_of_more_than_15", .scheduling = wanted}, [&] {
    found = *read_scheduling(0);
    name = thread_name(gettid());
  }).join();
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(name, "a_name_of_more_");
}

TEST(Thread, RunsOnOtherCpusOnceTheyAreSet) {
  const std::vector<int> all = allowed_cpus();
  std::atomic<int> step{0};
  std::array<std::vector<int>, 3> found;
  Thread thread({.name = "moves", .scheduling = {.cpus = {all.front()}}}, [&] {
    for (std::size_t i = 0; i < found.size(); ++i) {
      while (step.load() < static_cast<int>(2 * i)) {
        std::this_thread::yield();
      }
      found[i] = allowed_cpus();
      ++step;
    }
  });
  const auto once_read = [&](int times) {
    while (step.load() < times) {
      std::this_thread::yield();
    }
  };
  once_read(1);
  thread.set_cpus({all.back()});
  ++step;
  once_read(3);
  thread.set_cpus({1023});  // refused: there is no such CPU
  ++step;
  thread.join();
  EXPECT_EQ(found[0], std::vector<int>{all.front()});
  EXPECT_EQ(found[1], std::vector<int>{all.back()});
  EXPECT_THAT(found[2], testing::IsSupersetOf(all));
}

TEST(Thread, DoesNotInheritTheRealTimePolicyOfItsCreator) {
  if (const auto reason = why_no_realtime(7)) {
    GTEST_SKIP() << *reason;
  }
  Scheduling inner;
  Thread({.name = "outer", .scheduling = {Policy::kFifo, 7, {}}}, [&] {
    Thread({.name = "inner"}, [&] { inner = *read_scheduling(0); }).join();
  }).join();
  EXPECT_EQ(inner.policy, Policy::kOther);
}

TEST(Thread, TryJoinDoesNotWaitForARunningThread) {
  std::atomic<bool> stop{false};
  Thread thread({.name = "running"}, [&] {
    while (!stop.load()) {
    }
  });
  EXPECT_FALSE(thread.try_join());
  stop = true;
  while (!thread.try_join()) {
  }
  EXPECT_FALSE(thread.joinable());
  EXPECT_TRUE(thread.try_join());
}

TEST(Thread, GetsAnotherPriorityWhileItRuns) {
  if (const auto reason = why_no_realtime(7)) {
    GTEST_SKIP() << *reason;
  }
  std::atomic<bool> raised{false};
  Scheduling found;
  Thread thread({.name = "raised"}, [&] {
    while (!raised.load()) {
    }
    found = *read_scheduling(0);
  });
  thread.set_priority(Policy::kFifo, 7);
  raised = true;
  thread.join();
  EXPECT_EQ(found.policy, Policy::kFifo);
  EXPECT_EQ(found.priority, 7);
  thread.set_priority(Policy::kFifo, 7);  // ended: nothing to do
}

TEST(Thread, RefusesAStackThatIsTooSmallAndNamesTheLeast) {
  try {
    const Thread tiny({.name = "tiny", .stack_size = 100}, [] {});
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("\"tiny\": a stack of 100 bytes (ask for at least "), std::string::npos)
        << text;
  }
}

TEST(Thread, RefusesACpuItMayNotUse) {
  EXPECT_THAT(
      [&] { Thread({.name = "x", .scheduling = {Policy::kOther, 0, {100'000}}}, [] {}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("CPU 100000 cannot be used by this process")));
}

TEST(Thread, AMovedFromThreadCanBeDestroyedAndTheTargetJoins) {
  bool ran = false;
  {
    Thread first({.name = "moved"}, [&] { ran = true; });
    Thread second(std::move(first));
    EXPECT_TRUE(second.joinable());
  }
  EXPECT_TRUE(ran);
}

TEST(Thread, WatchesAFlagThatStopRaises) {
  std::atomic<bool> stopped{false};
  Thread thread({.name = "watches"}, [&](const StopFlag& stop) {
    stop.wait();
    stopped = true;
  });
  thread.stop();
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(thread.joinable());
}

TEST(Thread, IsStoppedByItsDestructor) {
  bool stopped = false;
  {
    const Thread thread({.name = "watches"}, [&](const StopFlag& stop) {
      stop.wait();
      stopped = true;
    });
  }
  EXPECT_TRUE(stopped);
}

TEST(Thread, RunsItsBodyAgainWhenItIsStartedAgain) {
  int runs = 0;
  Thread thread({.name = "again"}, [&](const StopFlag& stop) {
    ++runs;
    stop.wait();  // the request that ended the last run does not end this one
  });
  thread.stop();
  thread.start();
  Thread moved(std::move(thread));
  moved.stop();
  moved.start();
  EXPECT_THAT([&] { moved.start(); }, ThrowsMessage<std::logic_error>(
                                          HasSubstr("thread \"again\" has been started already")))
      << "the third run is not over";
  moved.stop();
  EXPECT_EQ(runs, 3);
}

TEST(Thread, BeginsWithStartWhenItsStartIsDeferred) {
  bool ran = false;
  Thread thread(kDeferStart, {.name = "deferred"}, [&] { ran = true; });
  EXPECT_FALSE(thread.joinable());
  thread.start();
  thread.join();
  EXPECT_TRUE(ran);
}

TEST(Thread, WithoutABodyCannotStart) {
  Thread thread;
  EXPECT_THAT([&] { thread.start(); },
              ThrowsMessage<std::logic_error>(
                  HasSubstr("a Thread that was constructed without a body cannot start")));
  thread.request_stop();
  thread.stop();
}

TEST(Thread, RunsItsHooksBeforeAndAfterTheBodyInTheSameThread) {
  std::vector<std::string> order;
  std::vector<pid_t> ids;
  const auto say = [&](const char* what) {
    return [&order, &ids, what] {
      order.emplace_back(what);
      ids.push_back(gettid());
    };
  };
  Thread({.name = "hooks", .before = say("before"), .after = say("after")}, say("body")).join();
  EXPECT_EQ(order, (std::vector<std::string>{"before", "body", "after"}));
  EXPECT_EQ(ids, std::vector<pid_t>(3, ids.front()));
  EXPECT_NE(ids.front(), gettid());
}

TEST(Thread, HasTheNiceValueItAsksFor) {
  std::optional<Scheduling> found;
  Thread({.name = "nice", .scheduling = {.nice = 7}}, [&] { found = read_scheduling(0); }).join();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->policy, Policy::kOther);
  EXPECT_EQ(found->nice, 7);
}

TEST(Thread, RunsUnderADeadlineReservation) {
  const Scheduling wanted{
      .policy = Policy::kDeadline,
      .reservation = {std::chrono::milliseconds(1), std::chrono::milliseconds(20),
                      std::chrono::milliseconds(100)}};
  if (const auto reason = why_refused(wanted)) {
    GTEST_SKIP() << *reason;
  }
  std::optional<Scheduling> found;
  bool created_another = false;
  Thread({.name = "deadline", .scheduling = wanted}, [&] {
    found = read_scheduling(0);
    Thread({.name = "child"}, [&] { created_another = true; }).join();
  }).join();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->policy, Policy::kDeadline);
  EXPECT_EQ(found->reservation, wanted.reservation);
  EXPECT_TRUE(created_another);
}

std::string refusal(const ThreadOptions& options) {
  try {
    Thread(options, [] {}).join();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no exception";
}

TEST(Thread, RefusesAReservationThatContradictsItselfWithTheRule) {
  const ThreadOptions options{
      .name = "odd",
      .scheduling = {.policy = Policy::kDeadline,
                     .reservation = {std::chrono::milliseconds(3), std::chrono::milliseconds(2),
                                     std::chrono::milliseconds(2)}}};
  EXPECT_EQ(refusal(options),
            "starting thread \"odd\": setting SCHED_DEADLINE runtime 3000 us deadline 2000 us "
            "period 2000 us (choose 1024 ns <= runtime <= deadline <= period): Invalid argument");
}

/// Page faults of the calling thread while it writes `kDepth` bytes of its stack.
constexpr std::size_t kDepth = 640 * 1024;
[[gnu::noinline]] long faults_of_deep_stack() {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  auto* const block = static_cast<volatile char*>(alloca(kDepth));
  for (std::size_t at = kDepth; at > 0; at -= 1024) {
    block[at - 1] = 1;
  }
  getrusage(RUSAGE_THREAD, &after);
  return (after.ru_minflt + after.ru_majflt) - (before.ru_minflt + before.ru_majflt);
}

TEST(Thread, MeetsNoPageFaultOnAStackThatWasPrefaulted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's build has page faults of its own, and large variables on stacks";
#endif
  long with = -1;
  long without = -1;
  // The sizes differ, because the C library keeps the stacks of ended threads, with their touched
  // pages.
  Thread({.name = "without", .stack_size = 41 << 20}, [&] {
    without = faults_of_deep_stack();
  }).join();
  Thread({.name = "with", .stack_size = 1 << 20, .stack_prefault = 768 * 1024}, [&] {
    with = faults_of_deep_stack();
  }).join();
  EXPECT_GT(without, 0);
  EXPECT_EQ(with, 0);
}

TEST(Thread, RefusesToPrefaultMoreThanItsStackWithTheSizeToAskFor) {
  EXPECT_EQ(refusal({.name = "small", .stack_size = 256 * 1024, .stack_prefault = 250 * 1024}),
            "thread \"small\": a stack of 262144 bytes has no room to prefault 256000: ask for a "
            "stack_size of at least 321536");
}

}  // namespace
}  // namespace rclrt::realtime
