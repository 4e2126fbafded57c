// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/scheduling.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

TEST(Scheduling, ACpuThatDoesNotExistIsRefusedWithTheOnesThatDo) {
  try {
    require_allowed_cpus({100'000});
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("CPU 100000 cannot be used"), std::string::npos) << text;
    EXPECT_NE(text.find("choose from " + std::to_string(allowed_cpus().front())), std::string::npos)
        << text;
  }
}

TEST(Scheduling, WhereTheCallerIsPinnedToDoesNotLimitWhereOtherThreadsRun) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) {
    GTEST_SKIP() << "one CPU";
  }
  // Like a process on a machine with isolcpus=, or under taskset.
  Thread({.name = "pinned", .scheduling = {.cpus = {cpus.front()}}}, [&] {
    ASSERT_EQ(allowed_cpus(), std::vector<int>{cpus.front()});
    const Scheduling wanted{.cpus = {cpus.back()}, .nice = 1};
    std::optional<Scheduling> found;
    Thread({.name = "elsewhere", .scheduling = wanted}, [&] { found = read_scheduling(0); }).join();
    EXPECT_EQ(found, wanted);
    apply_scheduling(0, wanted);
    EXPECT_EQ(read_scheduling(0), wanted);
  }).join();
}

TEST(Scheduling, APriorityAbove99IsUnavailableWithItsFix) {
  const auto reason = why_no_realtime(100);
  ASSERT_TRUE(reason.has_value());
  if (reason->find("sanitizer") != std::string::npos) {
    GTEST_SKIP() << *reason;
  }
  EXPECT_NE(reason->find("use a priority from 1 to 99"), std::string::npos) << *reason;
}

TEST(Scheduling, WhatIsAppliedToAThreadIsReadBackFromTheKernel) {
  if (const auto reason = why_no_realtime(5)) {
    GTEST_SKIP() << *reason;
  }
  const Scheduling wanted{Policy::kRoundRobin, 5, {allowed_cpus().back()}};
  Scheduling found;
  Thread({.name = "applied"}, [&] {
    apply_scheduling(0, wanted);
    found = *read_scheduling(gettid());
  }).join();
  EXPECT_EQ(found, wanted);
}

TEST(Scheduling, AThreadThatHasEndedHasNoScheduling) {
  EXPECT_EQ(read_scheduling(0x7fff'fffe), std::nullopt);
  EXPECT_EQ(thread_name(0x7fff'fffe), "");
}

TEST(Scheduling, TheThreadListHoldsTheCaller) {
  const auto ids = thread_ids();
  EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), gettid()));
}

TEST(Scheduling, ANiceValueIsAppliedAndOtherwiseKept) {
  std::optional<Scheduling> given;
  std::optional<Scheduling> kept;
  Thread({.name = "nice"}, [&] {
    apply_scheduling(0, {.nice = 5});
    given = read_scheduling(0);
    apply_scheduling(0, {});
    kept = read_scheduling(0);
  }).join();
  EXPECT_EQ(given->nice, 5);
  EXPECT_EQ(kept->nice, 5);
}

TEST(Scheduling, IsToldInOneLine) {
  EXPECT_EQ(to_string(Scheduling{Policy::kFifo, 80, {0, 1}}),
            "SCHED_FIFO priority 80 on CPUs 0, 1");
  EXPECT_EQ(to_string(Scheduling{.cpus = {3}, .nice = -5}), "SCHED_OTHER nice -5 on CPU 3");
  EXPECT_EQ(to_string(Scheduling{
                .policy = Policy::kDeadline,
                .reservation = {std::chrono::nanoseconds(1'500), std::chrono::microseconds(20),
                                std::chrono::milliseconds(1)}}),
            "SCHED_DEADLINE runtime 1.500 us deadline 20 us period 1000 us");
}

TEST(Scheduling, APriorityOfAnOrdinaryThreadIsRefusedWithTheRule) {
  EXPECT_NE(why_refused({.priority = 3}).value_or("").find("SCHED_OTHER has no priority"),
            std::string::npos);
}

TEST(MostUrgentPermitted, IsPermittedAnd99WhereThatIs) {
  const Scheduling found = most_urgent_permitted();
  EXPECT_EQ(why_refused(found), std::nullopt);
  EXPECT_EQ(found.priority == 99, !why_no_realtime(99).has_value());
}

}  // namespace
}  // namespace rclrt::realtime
