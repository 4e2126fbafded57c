// SPDX-License-Identifier: Apache-2.0
// Levels under SCHED_DEADLINE. Counts of events decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

realtime::Reservation reservation(std::chrono::nanoseconds runtime,
                                  std::chrono::nanoseconds period) {
  return {.runtime = runtime, .deadline = period, .period = period};
}

ExecutorOptions with(std::map<int, realtime::Reservation> reservations) {
  auto options = on_all_cpus();
  options.reservations = std::move(reservations);
  return options;
}

#define RCLRT_SKIP_WITHOUT_RESERVATIONS()                                                   \
  if (const auto reason = realtime::why_refused(                                            \
          {.policy = realtime::Policy::kDeadline, .reservation = reservation(1ms, 100ms)})) \
  GTEST_SKIP() << *reason

class Reserved : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Reserved,
                         ::testing::Values<std::string_view>("preemptive", "producer_consumer"),
                         kind_name);

TEST_P(Reserved, ALevelRunsOnOneThreadUnderSchedDeadlineAndTheOthersUnderSchedFifo) {
  RCLRT_SKIP_WITHOUT_RESERVATIONS();
  const auto budget = reservation(2ms, 20ms);
  auto options = with({{5, budget}});
  options.workers_per_level = 2;
  auto executor = make(GetParam(), options);
  std::atomic<int> runs{0};
  realtime::Scheduling reserved;
  realtime::Scheduling fixed;
  executor->add(every_millisecond(
      [&](const InstanceInfo&) {
        reserved = *realtime::read_scheduling(0);
        ++runs;
      },
      5));
  executor->add(every_millisecond(
      [&](const InstanceInfo&) {
        fixed = *realtime::read_scheduling(0);
        if (runs > 0) {
          executor->cancel();
        }
      },
      1));
  executor->prepare();
  EXPECT_EQ(executor->kernel_priority(5), 0) << "it has no SCHED_FIFO priority";
  EXPECT_EQ(executor->kernel_priority(1), 94) << "it takes none from the others";
  executor->spin();
  EXPECT_EQ(reserved.policy, realtime::Policy::kDeadline);
  EXPECT_EQ(reserved.reservation, budget);
  EXPECT_EQ(fixed.policy, realtime::Policy::kFifo);
}

TEST_P(Reserved, ALevelThatBurnsMoreThanItsBudgetLeavesTheRestToALessUrgentOne) {
  RCLRT_SKIP_WITHOUT_RESERVATIONS();
  // As many burners as CPUs: without their budgets nothing else would run.
  const std::size_t cpus = realtime::allowed_cpus().size();
  if (cpus > 16) {
    GTEST_SKIP() << "enough with 16 CPUs";
  }
  std::map<int, realtime::Reservation> reservations;
  for (std::size_t i = 0; i < cpus; ++i) {
    reservations[10 + static_cast<int>(i)] = reservation(4ms, 10ms);
  }
  auto executor = make(GetParam(), with(reservations));
  std::atomic<int> low_runs{0};
  std::atomic<int> outlasted{0};
  std::atomic<std::size_t> burning{0};
  executor->add(every_millisecond([&](const InstanceInfo&) { ++low_runs; }, 1));
  std::vector<std::shared_ptr<TestCallback>> burners;
  for (const auto& [level, budget] : reservations) {
    burners.push_back(
        std::make_shared<TestCallback>(named("burner", level), [&](const InstanceInfo&) {
          ++burning;
          busy_until([&] { return burning == cpus; });
          outlasted += busy_until([&, from = low_runs.load()] { return low_runs > from + 20; });
          if (--burning == 0) {
            executor->cancel();
          }
        }));
    executor->add(burners.back());
  }
  executor->prepare();
  for (const auto& burner : burners) {
    burner->release_now();
  }
  executor->spin();
  EXPECT_EQ(outlasted, static_cast<int>(cpus)) << "the less urgent one ran while each burned";
}

TEST_P(Reserved, AGroupAcrossAReservationAndAnotherLevelIsRefused) {
  auto executor = make(GetParam(), with({{5, reservation(1ms, 100ms)}}));
  const auto group = std::make_shared<Group>();
  const auto reserved =
      std::make_shared<TestCallback>(named("a", 5, 10, group), [](const InstanceInfo&) {});
  const auto other =
      std::make_shared<TestCallback>(named("b", 1, 10, group), [](const InstanceInfo&) {});
  executor->add(reserved);
  executor->prepare();
  try {
    executor->add(other);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "executor \"test\": the group of callback \"b\" has members at level 5, which "
        "has a reservation, and at level 1: a priority ceiling cannot cover both; keep all "
        "callbacks of the group in one reserved level, or in levels without a reservation");
  }
  EXPECT_EQ(executor->callbacks().size(), 1U);
  executor->set_level(reserved, 1);
  executor->add(other);
  EXPECT_THAT([&] { executor->set_level(reserved, 5); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("has members at level 5, which has a reservation, and at level 1")));
  EXPECT_EQ(reserved->level(), 1);
}

TEST_P(Reserved, WhatTheCpusHaveNoRoomForEndsSpinWithAnError) {
  RCLRT_SKIP_WITHOUT_RESERVATIONS();
  // Each one is possible, but not all together.
  std::map<int, realtime::Reservation> reservations;
  for (int level = 0; level <= static_cast<int>(realtime::allowed_cpus().size()); ++level) {
    reservations[level] = reservation(90ms, 100ms);
  }
  auto executor = make(GetParam(), with(reservations));
  for (const auto& [level, budget] : reservations) {
    executor->add(every_millisecond([](const InstanceInfo&) {}, level));
  }
  executor->prepare();
  try {
    executor->spin();
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::device_or_resource_busy) << error.what();
    EXPECT_NE(std::string(error.what()).find("less runtime or a longer period"), std::string::npos);
  }
}

TEST_P(Reserved, ASpinRightAfterAnotherGetsItsReservationsBack) {
  RCLRT_SKIP_WITHOUT_RESERVATIONS();
  // They need nearly the whole CPU time, so they fit only after the kernel has withdrawn those of
  // the first spin.
  std::map<int, realtime::Reservation> reservations;
  for (int level = 0; level < static_cast<int>(realtime::allowed_cpus().size()); ++level) {
    reservations[level] = reservation(90ms, 100ms);
  }
  auto executor = make(GetParam(), with(reservations));
  for (const auto& [level, budget] : reservations) {
    executor->add(every_millisecond([&](const InstanceInfo&) { executor->cancel(); }, level));
  }
  executor->spin();
  EXPECT_NO_THROW(executor->spin());
}

TEST(Reservations, EachMistakeHasItsOwnMessage) {
  auto options = with({{5, reservation(1ms, 10ms)}});
  options.cpus = {realtime::allowed_cpus().front()};
  PreemptiveExecutor pinned(options);
  EXPECT_EQ(refusal(pinned),
            "executor \"test\": the kernel gives a reservation only to a thread that may use every "
            "CPU: leave cpus empty, or put the reserved level into an executor of its own");
  PreemptiveExecutor backwards(with({{5, reservation(10ms, 1ms)}}));
  EXPECT_EQ(refusal(backwards),
            "executor \"test\": the reservation of level 5 is not possible: choose 1024 ns <= "
            "runtime <= deadline <= period");
  std::map<int, realtime::Reservation> many;
  for (int level = 0; level < 65; ++level) {
    many[level] = reservation(1ms, 1s);
  }
  PreemptiveExecutor too_many(with(many));
  EXPECT_EQ(
      refusal(too_many),
      "executor \"test\": at most 64 levels can have a reservation; state fewer reservations");
}

TEST(Reservations, ExecutorsWithoutThreadsOfALevelRefuseThem) {
  const auto options = with({{5, reservation(1ms, 10ms)}});
  const std::string expected =
      "executor \"test\": its levels have no threads of their own, so no level can have a "
      "reservation; use "
      "preemptive or producer_consumer";
  EXPECT_EQ(refusal(*make("thread_dispatch", options)), expected);
  EXPECT_EQ(refusal(*make("edf", options)), expected);
  EXPECT_EQ(refusal(*make("wait_set", options)), expected);
}

}  // namespace
}  // namespace rclrt::executor::test
