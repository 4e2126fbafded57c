// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/callback_accounting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rclrt::recorder {
namespace {

using testing::Each;

InstanceRecord record(std::uint32_t callback, Outcome outcome) {
  return {.callback = callback,
          .release_ns = 100,
          .ready_ns = 110,
          .start_ns = 130,
          .end_ns = 180,
          .cpu_ns = 40,
          .preemptions = 2,
          .outcome = outcome,
          .tokens = {}};
}

TEST(CallbackAccounting, TimesResponseDispatchAndExecutionOfWhatRan) {
  InstanceRecord second = record(0, Outcome::kRan);
  second.end_ns = 190;
  second.cpu_ns = 45;
  const std::vector<InstanceRecord> records{record(0, Outcome::kRan), second};
  const CallbackResult result = account_callbacks(1, records).at(0);
  EXPECT_EQ(result.response->best_ns, 80);   // 180 - 100
  EXPECT_EQ(result.response->worst_ns, 90);  // 190 - 100
  EXPECT_EQ(result.dispatch->worst_ns, 20);  // 130 - 110
  EXPECT_EQ(result.execution->best_ns, 40);
  EXPECT_EQ(result.execution->worst_ns, 45);
  EXPECT_EQ(result.preemptions, 4U);
  EXPECT_EQ(result.response->count, 2U);
}

TEST(CallbackAccounting, CountsMigrationsOfInstancesWithKnownCpus) {
  std::vector<InstanceRecord> records(5, record(0, Outcome::kRan));
  EXPECT_FALSE(account_callbacks(1, records).at(0).migrations);
  records[0].first_cpu = records[0].last_cpu = 3;
  EXPECT_EQ(account_callbacks(1, records).at(0).migrations, 0U);
  // Only the begin and the end are known: at least one.
  records[1].first_cpu = 3;
  records[1].last_cpu = 0;
  EXPECT_EQ(account_callbacks(1, records).at(0).migrations, 1U);
  // It was preempted twice and moved once; then it moved there and back.
  const std::vector<CpuPart> parts{{9, 0, 1},     {2, 10, 20},   {2, 30, 40},  {1, 50, 60},
                                   {0, 100, 110}, {1, 110, 120}, {0, 120, 130}};
  records[2].first_cpu = 2;
  records[2].last_cpu = 1;
  records[2].first_part = 1;
  records[2].part_count = 3;
  records[3].first_cpu = records[3].last_cpu = 0;
  records[3].first_part = 4;
  records[3].part_count = 3;
  EXPECT_EQ(account_callbacks(1, records, parts).at(0).migrations, 4U);
  // Without the parts, only one of these two is known to have moved.
  EXPECT_EQ(account_callbacks(1, records).at(0).migrations, 2U);
}

TEST(CallbackAccounting, LeavesOutInstancesThatRanNoUserCode) {
  const std::vector<InstanceRecord> records{record(0, Outcome::kBuffered),
                                            record(0, Outcome::kEmpty)};
  EXPECT_THAT(account_callbacks(1, records), Each(CallbackResult{}));
}

TEST(CallbackAccounting, KeepsCallbacksApartAndIgnoresUnknownOnes) {
  const std::vector<InstanceRecord> records{record(1, Outcome::kRan), record(2, Outcome::kRan)};
  const std::vector<CallbackResult> results = account_callbacks(2, records);
  EXPECT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0], CallbackResult{});
  EXPECT_EQ(results[1].response->count, 1U);
}

}  // namespace
}  // namespace rclrt::recorder
