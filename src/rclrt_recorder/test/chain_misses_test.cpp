// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/chain_misses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "sample_application.hpp"

namespace rclrt::recorder {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::int64_t at(double ms) { return static_cast<std::int64_t>(ms * kMs); }

/// The obstacle chain (scan, fuse, brake on CPU 1; deadline 40 ms), one release at 0.
class ChainMisses : public ::testing::Test {
 protected:
  ChainMisses() {
    application.executors[1].cpus = {0};  // the planner's; it delays nothing here
  }

  InstanceRecord& add(std::uint32_t callback, double start_ms, double end_ms, bool of_chain) {
    records.push_back(ran(callback, at(start_ms), at(end_ms), {}));
    records.back().id = 100 + records.size();
    if (of_chain) {
      records.back().tokens.add({.chain = kObstacle, .instance = 0, .release_ns = 0});
    }
    return records.back();
  }

  std::vector<ChainMiss> explained(const std::vector<std::int64_t>& deadlines = {}) {
    const std::vector<std::vector<ChainRelease>> releases{{{0, at(0)}}, {}};
    const auto chains =
        account_chains(application, {.start_ns = 0, .end_ns = at(1000)}, releases, records, {});
    return explain_misses({.application = application,
                           .chains = chains,
                           .records = records,
                           .priorities = priorities,
                           .cpus = 2,
                           .deadlines = deadlines,
                           .hosts = &hosts},
                          10);
  }

  model::Application application = sample_application();
  std::vector<int> priorities{50, 60, 50, 50, 10};  // scan, capture, fuse, brake, plan
  std::vector<InstanceRecord> records;
  HostTable hosts;
};

TEST_F(ChainMisses, OneInTimeIsNone) {
  add(kScan, 0, 5, true);
  add(kBrake, 5, 40, true);
  EXPECT_THAT(explained(), IsEmpty());
}

TEST_F(ChainMisses, CallbacksOfAnotherHostAreNotBlamed) {
  for (auto& executor : application.executors) {
    executor.cpus = {0};  // of its own host
  }
  add(kScan, 0, 5, true);
  add(kPlan, 5, 35, false);
  add(kBrake, 35, 45, true).ready_ns = at(5);
  ASSERT_EQ(explained().at(0).culprits.size(), 1U) << "one host";
  hosts.hosts = {{.name = "arm"}, {.name = "base"}};
  hosts.of_callback = {0, 0, 0, 0, 1};  // plan has an executor of its own
  EXPECT_THAT(explained().at(0).culprits, IsEmpty());
}

TEST_F(ChainMisses, TheCpusAreThoseOfTheHost) {
  for (auto& executor : application.executors) {
    executor.cpus = {};
  }
  add(kScan, 0, 5, true);
  add(kCapture, 5, 35, false);
  add(kBrake, 35, 45, true).ready_ns = at(5);
  hosts.hosts = {{.name = "arm", .cpus = 1}, {.name = "base", .cpus = 1}};
  hosts.of_callback = {0, 0, 0, 0, 1};
  const std::int64_t on_one_cpu = explained().at(0).delayed_ns;
  hosts.hosts[0].cpus = 0;  // as many as both hosts have
  EXPECT_EQ(on_one_cpu, at(30));
  EXPECT_LT(explained().at(0).delayed_ns, on_one_cpu);
}

TEST_F(ChainMisses, TheCausesThatAreNotListedAreCounted) {
  add(kScan, 0, 5, true);
  for (int i = 0; i < 10; ++i) {
    add(kCapture, 5 + 3 * i, 8 + 3 * i, false);
  }
  add(kBrake, 35, 45, true).ready_ns = at(5);
  const auto misses = explained();
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_EQ(misses[0].culprits.size(), 8U);
  EXPECT_EQ(misses[0].more_culprits, 2U);
  EXPECT_EQ(misses[0].more_culprits_ns, at(6));
  EXPECT_THAT(miss_text(application, records, misses[0]),
              HasSubstr("less urgent), 6 ms in 2 other instances, 15 ms its own"));
}

TEST_F(ChainMisses, TheTimeOfALateOneIsSplitAndTheCulpritIsNamed) {
  add(kScan, 0, 5, true);
  add(kFuse, 7, 10, true).ready_ns = at(7);  // 2 ms in transit
  add(kCapture, 10, 40, false);
  add(kBrake, 40, 44, true).ready_ns = at(10);
  const auto misses = explained();
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_EQ(misses[0].late_ns, at(4));
  EXPECT_EQ(misses[0].execution_ns, at(12));
  EXPECT_EQ(misses[0].transit_ns, at(2));
  EXPECT_EQ(misses[0].delayed_ns, at(30));
  EXPECT_EQ(misses[0].unexplained_ns, 0);
  ASSERT_EQ(misses[0].culprits.size(), 1U);
  EXPECT_EQ(
      miss_text(application, records, misses[0]),
      "chain obstacle instance 0 missed by 4 ms: 30 ms capture#103 (priority 0, less urgent), "
      "12 ms its own, 2 ms between callbacks, 0 ms unexplained");
}

TEST_F(ChainMisses, WhatRunsOnOtherCpusIsNotInTheWay) {
  add(kScan, 0, 5, true);
  add(kPlan, 5, 45, false);
  add(kBrake, 45, 46, true).ready_ns = at(5);
  const auto misses = explained();
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_THAT(misses[0].culprits, IsEmpty());
  EXPECT_EQ(misses[0].unexplained_ns, at(40));
}

TEST_F(ChainMisses, AStageIsExplainedWithTheCpusOfItsOwnExecutor) {
  // The chain goes on on CPU 0, which is idle while brake waits for CPU 1.
  application.chains[kObstacle].callbacks.push_back(kPlan);
  application.callbacks[kCapture].priority = 12;
  add(kScan, 0, 5, true);
  add(kCapture, 5, 44, false);
  add(kBrake, 44, 46, true).ready_ns = at(5);
  add(kPlan, 46, 47, true).ready_ns = at(46);
  const auto misses = explained();
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_EQ(misses[0].delayed_ns, at(39));
  EXPECT_EQ(misses[0].execution_ns, at(8));
  ASSERT_EQ(misses[0].culprits.size(), 1U);
  EXPECT_EQ(misses[0].culprits[0].reason, executor::Reason::kMoreUrgent);
}

TEST_F(ChainMisses, OneThatNeverEndedIsExplainedUpToItsDeadline) {
  add(kScan, 0, 5, true);
  add(kCapture, 5, 500, false);
  const auto misses = explained();
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_EQ(misses[0].execution_ns, at(5));
  EXPECT_EQ(misses[0].delayed_ns, at(35));
  EXPECT_THAT(miss_text(application, records, misses[0]),
              HasSubstr("instance 0 never ended: 35 ms capture#102"));
}

TEST_F(ChainMisses, AMemberOfTheGroupOfTheWaitingStageIsBlocking) {
  application.callbacks[kCapture].group = "g";
  application.callbacks[kBrake].group = "g";
  priorities[kCapture] = 1;
  add(kScan, 0, 5, true);
  add(kCapture, 5, 40, false);
  add(kBrake, 40, 41, true).ready_ns = at(5);
  application.callbacks[kBrake].priority = 9;
  const auto misses = explained();
  ASSERT_EQ(misses.size(), 1U);
  ASSERT_EQ(misses[0].culprits.size(), 1U);
  EXPECT_EQ(misses[0].culprits[0].reason, executor::Reason::kGroup);
}

TEST_F(ChainMisses, ACallbackOfAnotherExecutorComparesByItsKernelPriority) {
  application.executors[1].cpus = {1};
  add(kScan, 0, 5, true);
  add(kPlan, 5, 44, false);
  add(kBrake, 44, 46, true).ready_ns = at(5);
  const auto reason_at = [&](int priority) {
    priorities[kPlan] = priority;
    const auto misses = explained();
    return misses.empty() || misses[0].culprits.empty() ? "none"
                                                        : to_string(misses[0].culprits[0].reason);
  };
  EXPECT_STREQ(reason_at(49), "less urgent");
  EXPECT_STREQ(reason_at(50), "same kernel priority");  // as brake
  EXPECT_STREQ(reason_at(51), "more urgent");
}

TEST_F(ChainMisses, UnderEdfWhoStartedLaterHasPreemptedWhoStartedBefore) {
  priorities.assign(5, 0);
  add(kScan, 0, 5, true);
  add(kBrake, 5, 45, true).cpu_ns = at(10);
  add(kCapture, 10, 40, false);
  const auto misses = explained({at(20), at(50), at(20), at(40), at(90)});  // due at 20, 60, -, 45
  ASSERT_EQ(misses.size(), 1U);
  ASSERT_EQ(misses[0].culprits.size(), 1U);
  EXPECT_EQ(misses[0].culprits[0].time_ns, at(30));
  EXPECT_EQ(misses[0].culprits[0].reason, executor::Reason::kLessUrgent);  // 60 against 45
  const auto earlier = explained({at(20), at(34), at(20), at(40), at(90)});
  EXPECT_EQ(earlier[0].culprits[0].reason, executor::Reason::kMoreUrgent);  // 44
  EXPECT_THAT(explained()[0].culprits, IsEmpty());
}

TEST_F(ChainMisses, OfMoreThanTheLimitTheWorstAreExplainedInOrder) {
  const std::vector<ChainRelease> times{{0, at(0)}, {1, at(100)}, {2, at(200)}, {3, at(300)}};
  const std::vector<double> responses{50, 70, 45, 60};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double start = 100.0 * static_cast<double>(i);
    records.push_back(ran(kBrake, at(start), at(start + responses[i]),
                          {{.chain = kObstacle, .instance = i, .release_ns = at(start)}}));
  }
  const auto chains = account_chains(application, {.start_ns = 0, .end_ns = at(1000)},
                                     std::vector{times, std::vector<ChainRelease>{}}, records, {});
  std::vector<std::uint64_t> instances;
  for (const ChainMiss& miss : explain_misses({.application = application,
                                               .chains = chains,
                                               .records = records,
                                               .priorities = priorities},
                                              2)) {
    instances.push_back(miss.instance.instance);
  }
  EXPECT_THAT(instances, ElementsAre(1, 3));
}

TEST_F(ChainMisses, InputsThatDoNotFitTogetherAreRefused) {
  EXPECT_THAT(
      [&] {
        explain_misses(
            {.application = application, .chains = {}, .records = {}, .priorities = priorities}, 1);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a result for each chain")));
}

}  // namespace
}  // namespace rclrt::recorder
