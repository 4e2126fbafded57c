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

TEST(HopAccounting, AMessageBetweenHostsThatIsEarlyWithinTheErrorTookNoTime) {
  HostTable hosts;
  hosts.hosts.push_back({.name = "arm"});
  hosts.hosts.push_back({.name = "base", .knots = {{0, 30}}});
  hosts.of_callback = {0, 1, 1};
  const std::vector<LoggedInstance> instances{took(0, 1, 100, 150), took(0, 1, 200, 180),
                                              took(0, 1, 300, 269), took(2, 1, 400, 390)};
  const auto hops = account_hops(instances, hosts);
  ASSERT_EQ(hops.size(), 1U) << "on one host an early message is a later one";
  EXPECT_EQ(hops[0], (HopResult{0, 1, *summarise({50, 0}), 30, 1}));
}

}  // namespace
}  // namespace rclrt::recorder
