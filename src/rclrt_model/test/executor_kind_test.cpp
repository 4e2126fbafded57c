// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/executor_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace rclrt::model {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ExecutorKinds, AreFoundByTheirNames) {
  for (const ExecutorTraits& each : executor_kinds()) {
    EXPECT_EQ(executor_kind_of(each.name), each.kind);
    EXPECT_EQ(traits(each.kind), each);
  }
  EXPECT_EQ(executor_kind_of("preemptiv"), std::nullopt);
  EXPECT_EQ(executor_kind_of(""), std::nullopt);
  EXPECT_THAT([&] { traits(static_cast<ExecutorKind>(12)); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("no such kind of executor")));
}

TEST(ExecutorKinds, ThatRunCallbacksAreListedForAReader) {
  EXPECT_EQ(executor_names(),
            "wait_set, producer_consumer, thread_dispatch, preemptive, edf, events, picas, "
            "per_group, static_order, workshop");
}

TEST(ExecutorKinds, HaveTheirOptionsInTheHelp) {
  EXPECT_EQ(executor_options_help(),
            "threads=N (1 to 64), static, order=arbitrary, seed=N of wait_set; timers_thread of "
            "events; trigger=all, trigger_on=CALLBACK, let of static_order");
}

TEST(ExecutorKinds, DoNotContradictThemselves) {
  for (const ExecutorTraits& each : executor_kinds()) {
    EXPECT_EQ(each.has_levels, each.threads != ExecutorThreads::kFixed &&
                                   each.threads != ExecutorThreads::kPerDeadline)
        << each.name;
    EXPECT_EQ(each.class_name.empty(), each.simulated_only) << each.name;
    EXPECT_FALSE(each.on_rclcpp && each.simulated_only) << each.name;
    EXPECT_FALSE(each.summary.empty() || each.assumption.empty()) << each.name;
    EXPECT_FALSE(each.has_levels && (each.by_deadline || each.one_at_a_time)) << each.name;
    EXPECT_FALSE(each.has_scheduler_thread && !each.has_levels) << each.name;
    EXPECT_FALSE(each.polls && !each.runs_sets) << each.name;
    EXPECT_FALSE(each.runs_sets && !each.one_at_a_time) << each.name;
  }
}

/// Returns executors with one callback each, of these priorities.
Application with_priorities(const std::vector<int>& priorities) {
  Application result;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    const std::string name = "e" + std::to_string(i);
    result.executors.push_back({.name = name});
    result.nodes.push_back({.name = name, .name_space = "/", .executor = i});
    result.callbacks.push_back(
        {.id = name, .node = i, .trigger = Timer{}, .priority = priorities[i]});
  }
  return result;
}

TEST(TopPriorities, AreOneForAllUnlessStated) {
  Application application = with_priorities({3, 7, 3});
  EXPECT_EQ(top_priorities(application, ExecutorKind::kPreemptive), std::vector({95, 95, 95}));
  application.executors[1].top_priority = 80;
  EXPECT_EQ(top_priorities(application, ExecutorKind::kPreemptive), std::vector({95, 80, 95}));
}

TEST(TopPriorities, GoByTheMostUrgentCallbackUnderPicas) {
  EXPECT_EQ(top_priorities(with_priorities({3, 7, 3, 0}), ExecutorKind::kPicas),
            std::vector({94, 95, 93, 92}));
}

TEST(TopPriorities, OfWhatMayShareACpuDifferUnderPicas) {
  Application application = with_priorities({1, 2});
  application.executors[0].top_priority = 80;
  EXPECT_EQ(top_priorities(application, ExecutorKind::kPicas), std::vector({80, 95}));
  application.executors[1].top_priority = 80;
  application.executors[0].cpus = {0};
  EXPECT_THAT([&] { top_priorities(application, ExecutorKind::kPicas); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("executors 'e0' and 'e1' share a CPU and have top_priority 80")));
  application.executors[1].cpus = {1, 2};
  EXPECT_EQ(top_priorities(application, ExecutorKind::kPicas), std::vector({80, 80}));
}

TEST(TopPriorities, LeaveRoomForLevelsAndDeadlines) {
  Application application = with_priorities({1, 2});
  application.nodes[1].executor = 0;
  application.callbacks[0].deadline = Nanoseconds(1);
  application.executors[0].top_priority = 3;
  EXPECT_EQ(top_priorities(application, ExecutorKind::kPreemptive), std::vector({3, 95}));
  EXPECT_EQ(top_priorities(application, ExecutorKind::kEdf), std::vector({3, 95}));
  application.executors[0].top_priority = 2;
  EXPECT_THAT([&] { top_priorities(application, ExecutorKind::kPreemptive); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("executor 'e0': 2 priority levels do not fit")));
  EXPECT_THAT([&] { top_priorities(application, ExecutorKind::kEdf); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("executor 'e0': 2 different deadlines do not fit")));
  EXPECT_EQ(top_priorities(application, ExecutorKind::kEvents), std::vector({2, 95}));
}

TEST(TopPriorities, CountThePeriodOfAnEventAsItsDeadline) {
  Application application = with_priorities({1, 1});
  application.nodes[1].executor = 0;
  application.executors[0].top_priority = 2;
  application.callbacks[0].trigger = Event{.min_interval = Nanoseconds(10),
                                           .max_interval = Nanoseconds(30),
                                           .period = Nanoseconds(20),
                                           .jitter = Nanoseconds(10)};
  application.callbacks[1].trigger = Timer{.period = Nanoseconds(20)};
  EXPECT_EQ(top_priorities(application, ExecutorKind::kEdf), std::vector({2, 95}));
  application.callbacks[1].trigger = Timer{.period = Nanoseconds(10)};
  EXPECT_THAT([&] { top_priorities(application, ExecutorKind::kEdf); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("2 different deadlines do not fit")));
}

TEST(TopPriorities, ThatDoNotFitAreRefused) {
  std::vector<int> priorities(95);
  EXPECT_THAT([&] { top_priorities(with_priorities(priorities), ExecutorKind::kPicas); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("95 executors do not fit into the 94 SCHED_FIFO priorities below 95")));
  priorities.pop_back();
  EXPECT_EQ(top_priorities(with_priorities(priorities), ExecutorKind::kPicas).back(), 2);
}

TEST(TopPriorities, ThatNoThreadWillHaveNeedNoRoom) {
  const std::vector<int> tops =
      top_priorities(with_priorities(std::vector<int>(200)), ExecutorKind::kPicas, false);
  EXPECT_EQ(tops.front(), 95);
  EXPECT_EQ(tops.back(), 2);
  Application application = with_priorities({1, 2});
  application.nodes[1].executor = 0;
  application.executors[0].top_priority = 2;
  EXPECT_EQ(top_priorities(application, ExecutorKind::kEdf, false), std::vector({2, 95}));
  application.executors[1].top_priority = 2;
  EXPECT_EQ(top_priorities(application, ExecutorKind::kPicas, false), std::vector({2, 2}));
}

}  // namespace
}  // namespace rclrt::model
