// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/edf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "rclrt/analysis/utilisation.hpp"
#include "tasks.hpp"

namespace rclrt::analysis {
namespace {

/// Returns the longest responses over `length`, with each job released at offset + k T, in steps of
/// one tick. Ties are decided against the observed task.
Responses observed(const std::vector<Task>& set, const std::vector<Ticks>& offsets, bool preemptive,
                   Ticks length) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  struct Live {
    std::size_t task;
    Ticks arrival;
    Ticks left;
  };
  Responses worst(set.size());
  for (std::size_t watched = 0; watched < set.size(); ++watched) {
    std::vector<Live> ready;
    std::size_t running = kNone;
    for (Ticks now = 0; now < length; ++now) {
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (now >= offsets[i] && (now - offsets[i]) % set[i].period == 0) {
          ready.push_back({i, now, set[i].wcet});
        }
      }
      if (ready.empty()) {
        continue;
      }
      if (preemptive || running == kNone) {
        running = static_cast<std::size_t>(std::distance(
            ready.begin(), std::ranges::min_element(ready, [&](const Live& a, const Live& b) {
              const Ticks da = a.arrival + set[a.task].deadline;
              const Ticks db = b.arrival + set[b.task].deadline;
              return da != db ? da < db : (a.task != watched && b.task == watched);
            })));
      }
      Live& job = ready[running];
      if (--job.left > 0) {
        continue;
      }
      if (job.task == watched) {
        worst[watched] = std::max(worst[watched].value_or(0), now + 1 - job.arrival);
      }
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(running));
      running = kNone;
    }
  }
  return worst;
}

// Buttazzo, "Hard Real-Time Computing Systems", chapter 4: EDF meets deadlines that rate monotonic
// misses.
TEST(Edf, MeetsWhatRateMonotonicMisses) {
  EXPECT_EQ(edf_demand_test(tasks({{2, 5}, {4, 7}})), Answer::kYes);
}

// Buttazzo, "Hard Real-Time Computing Systems", section 4.6: h(7) = 2 + 2 + 3 = 7, h(16) = 16.
TEST(Edf, DemandUpToTheLastTickIsMet) {
  EXPECT_EQ(edf_demand_test(tasks({{2, 6, 4}, {2, 8, 5}, {3, 9, 7}})), Answer::kYes);
  EXPECT_EQ(edf_demand_test(tasks({{2, 6, 4}, {2, 8, 5}, {4, 9, 7}})), Answer::kNo);
}

TEST(Edf, AFullCoreWithDeadlinesAtThePeriodsIsSchedulable) {
  EXPECT_EQ(edf_demand_test(tasks({{1, 2}, {1, 3}, {1, 6}})), Answer::kYes);
  EXPECT_EQ(edf_demand_test(tasks({{1, 2}, {1, 3}, {2, 6}})), Answer::kNo);
}

TEST(Edf, BlockingOfATaskCountsFromItsDeadlineOn) {
  auto set = tasks({{1, 4}, {2, 6}, {2, 12}});
  set[0].blocking = 3;
  EXPECT_EQ(edf_demand_test(set), Answer::kYes);
  set[0].blocking = 4;
  EXPECT_EQ(edf_demand_test(set), Answer::kNo);
}

// Random small sets; every phasing runs tick by tick. The schedule from the synchronous release
// decides the preemptive case: Liu and Layland 1973, theorem 7.
TEST(Edf, NoPhasingIsWorseThanTheBound) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same sets each time
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Task> set;
    for (int i = 0; i < 3; ++i) {
      Task task;
      task.period = std::array<Ticks, 5>{4, 5, 6, 8, 10}[random() % 5];
      task.wcet = 1 + static_cast<Ticks>(random() % 3);
      task.deadline = task.wcet + static_cast<Ticks>(random() % 10);
      set.push_back(task);
    }
    Ticks length = 1;
    for (const Task& task : set) {
      length = std::lcm(length, task.period);
    }
    if (compare_utilisation_with_one(set) > 0) {
      continue;
    }
    ++compared;
    for (const bool preemptive : {true, false}) {
      const auto bound = preemptive ? edf_preemptive(set) : edf_nonpreemptive(set);
      Responses worst(set.size());
      for (Ticks a = 0; a < set[1].period; ++a) {
        for (Ticks b = 0; b < set[2].period; ++b) {
          const auto seen = observed(set, {0, a, b}, preemptive, 2 * length + 20);
          for (std::size_t i = 0; i < set.size(); ++i) {
            worst[i] = std::max(worst[i], seen[i]);
          }
        }
      }
      for (std::size_t i = 0; i < set.size(); ++i) {
        ASSERT_TRUE(bound.tasks[i].response);
        EXPECT_GE(*bound.tasks[i].response, *worst[i]) << "set " << round << ", task " << i;
      }
      if (preemptive) {
        EXPECT_EQ(bound.schedulable == Answer::kYes,
                  std::ranges::all_of(
                      bound.tasks,
                      [](const TaskResult& task) { return task.schedulable == Answer::kYes; }))
            << "demand test and response times of set " << round;
        const auto sync = observed(set, {0, 0, 0}, true, 2 * length + 20);
        bool missed = false;
        for (std::size_t i = 0; i < set.size(); ++i) {
          missed |= *sync[i] > set[i].deadline;
        }
        EXPECT_EQ(bound.schedulable == Answer::kNo, missed) << "set " << round;
      }
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(Edf, MoreLoadThanTheCoreIsANo) {
  const auto result = edf_preemptive(tasks({{3, 5}, {3, 6}}));
  EXPECT_EQ(result.schedulable, Answer::kNo);
  EXPECT_EQ(responses(result), (Responses{std::nullopt, std::nullopt}));
  EXPECT_EQ(edf_nonpreemptive(tasks({{3, 5}, {3, 6}})).schedulable, Answer::kNo);
}

TEST(Edf, TheLongestTimesDoNotOverflow) {
  const auto set = tasks({{1, 2}, {kMaxTicks / 2, kMaxTicks}});
  EXPECT_NE(edf_preemptive(set, Effort{.steps = 10'000'000}).schedulable, Answer::kNo);
  EXPECT_NE(edf_nonpreemptive(set, Effort{.steps = 10'000'000}).schedulable, Answer::kYes);
}

}  // namespace
}  // namespace rclrt::analysis
