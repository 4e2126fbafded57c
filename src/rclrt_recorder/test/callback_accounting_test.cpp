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
