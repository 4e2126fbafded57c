// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>

namespace rclrt::realtime {
namespace {

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

TEST(Thread, DoesNotInheritTheRealTimePolicyOfItsCreator) {
  if (const auto reason = why_no_realtime(7)) {
    GTEST_SKIP() << *reason;
  }
  Scheduling inner;
  Thread({.name = "outer", .scheduling = {Policy::kFifo, 7, {}}}, [&] {
    Thread({.name = "inner", .scheduling = {}}, [&] { inner = *read_scheduling(0); }).join();
  }).join();
  EXPECT_EQ(inner.policy, Policy::kOther);
}

TEST(Thread, TryJoinDoesNotWaitForARunningThread) {
  std::atomic<bool> stop{false};
  Thread thread({.name = "running", .scheduling = {}}, [&] {
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
  Thread thread({.name = "raised", .scheduling = {}}, [&] {
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

TEST(Thread, RefusesACpuItMayNotUse) {
  EXPECT_THROW(Thread({.name = "x", .scheduling = {Policy::kOther, 0, {100'000}}}, [] {}),
               std::invalid_argument);
}

TEST(Thread, AMovedFromThreadCanBeDestroyedAndTheTargetJoins) {
  bool ran = false;
  {
    Thread first({.name = "moved", .scheduling = {}}, [&] { ran = true; });
    Thread second(std::move(first));
    EXPECT_TRUE(second.joinable());
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace rclrt::realtime
