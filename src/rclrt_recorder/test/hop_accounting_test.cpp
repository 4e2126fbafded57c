// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/hop_accounting.hpp"

#include <gtest/gtest.h>

namespace rclrt::recorder {
namespace {

LoggedInstance took(std::uint32_t from, std::uint32_t to, std::int64_t published_ns,
                    std::int64_t ready_ns) {
  LoggedInstance result;
  result.record.callback = to;
  result.record.ready_ns = ready_ns;
  result.published_ns = published_ns;
  result.publisher = from;
  return result;
}

TEST(HopAccounting, MeasuresFromPublicationToReadyForEachPairOfCallbacks) {
  const std::vector<LoggedInstance> instances{took(1, 2, 100, 150), took(0, 2, 300, 310),
                                              took(1, 2, 400, 420)};
  const auto hops = account_hops(instances);
  ASSERT_EQ(hops.size(), 2U);
  EXPECT_EQ(hops[0], (HopResult{0, 2, *summarise({10})}));
  EXPECT_EQ(hops[1], (HopResult{1, 2, *summarise({50, 20})}));
}

TEST(HopAccounting, LeavesOutWhatIsNotKnownAndWhatCameLater) {
  LoggedInstance buffered = took(1, 2, 100, 150);
  buffered.record.outcome = Outcome::kBuffered;
  const std::vector<LoggedInstance> instances{buffered, took(LoggedInstance::kNobody, 2, 100, 150),
                                              took(1, 2, 0, 150), took(1, 2, 200, 150)};
  EXPECT_TRUE(account_hops(instances).empty());
}

}  // namespace
}  // namespace rclrt::recorder
