// SPDX-License-Identifier: Apache-2.0
#include "network/link_queue.hpp"

#include <gtest/gtest.h>

namespace rclrt::analysis::detail {
namespace {

constexpr Ticks kMs = 1'000'000;

/// Returns a link of 8 Mbit/s: a byte takes a microsecond.
model::NetworkLink line_of_bytes() {
  return {.name = "line", .between = {0, 1}, .rate_kbit = 8000};
}

// Le Boudec and Thiran, "Network Calculus", Springer 2001, section 1.4: a flow with the arrival
// curve 25 + 5 t at a server with the service curve 10 (t - 10) has a delay of at most 12.5 and a
// backlog of at most 75. NetCal/DNC has the same figures in its tests. The unit of time here is a
// microsecond, and that of data 10 000 bytes; packets of 64 bytes are as good as a fluid.
TEST(LinkQueue, OneServerHasTheDelayAndTheBacklogOfTheTextbook) {
  model::NetworkLink link = line_of_bytes();
  link.rate_kbit = 800'000'000;                 // 100 000 bytes in a microsecond
  link.access = std::chrono::microseconds(10);  // T = 10
  link.cross_traffic = {{.from = 0, .rate_kbit = 400'000'000, .burst_bytes = 250'000}};
  link.mtu_bytes = 64;
  link.framing_bytes = 0;
  const LinkQueue queue(link, 0, {{.period = 3'600'000'000'000, .packets = {1}}});
  ASSERT_TRUE(queue.delay(0));
  EXPECT_NEAR(static_cast<double>(*queue.delay(0)), 12'500, 3);
  ASSERT_TRUE(queue.backlog());
  EXPECT_NEAR(static_cast<double>(*queue.backlog()), 750'000, 150);
  EXPECT_NEAR(queue.load(), 0.5, 1e-6);
}

TEST(LinkQueue, FifoWaitsForAllThatMayHaveArrivedBefore) {
  const model::NetworkLink link = line_of_bytes();
  const LinkQueue queue(link, 0,
                        {{.period = 10 * kMs, .packets = {1000, 1000}},
                         {.period = 10 * kMs, .jitter = 10 * kMs, .packets = {500}}});
  EXPECT_EQ(queue.delay(0), 3 * kMs);  // 2 ms of its own, and two messages of 0.5 ms
  EXPECT_EQ(queue.delay(1), 3 * kMs);
  EXPECT_EQ(queue.backlog(), 3000);
}

TEST(LinkQueue, TokensThatWereSavedCountOnlyForTheBurst) {
  model::NetworkLink link = line_of_bytes();
  link.rate_kbit = 80'000;  // 0.1 us for a byte
  link.shaper = {.rate_kbit = 8000, .burst_bytes = 2000};
  const LinkQueue queue(link, 0, {{.period = 100 * kMs, .packets = {1000, 1000, 1000}}});
  // (q + S - b) / R + the last packet on the line.
  EXPECT_EQ(queue.delay(0), 1 * kMs + 100'000);
  link.shaper->burst_bytes = 3000;
  EXPECT_EQ(queue.delay(0), 300'000);  // the line
}

TEST(LinkQueue, PrioritiesLetOnlyOnePacketOfALowerOnePass) {
  model::NetworkLink link = line_of_bytes();
  link.order = model::LinkOrder::kPriority;
  const LinkQueue queue(link, 0,
                        {{.period = 10 * kMs, .packets = {100}, .priority = 2},
                         {.period = 10 * kMs, .packets = {1000, 1000, 1000}, .priority = 1},
                         {.period = 10 * kMs, .packets = {400}, .priority = 0}});
  EXPECT_EQ(queue.delay(0), 1'100'000);  // a packet of the middle one, and its own
  // A packet of the lowest one, one message of the highest one, its own.
  EXPECT_EQ(queue.delay(1), 3'500'000);
  EXPECT_EQ(queue.delay(2), 3'500'000);
}

// Davis, Burns, Bril and Lukkien, Real-Time Systems 35, 2007, section 3.1 (table 3): three messages
// of 1 ms each with periods of 2.5, 3.5 and 3.5 ms. The worst case of the lowest one is that of its
// second instance: 3.5 ms.
TEST(LinkQueue, TheSecondMessageOfABusyPeriodMayBeTheWorst) {
  model::NetworkLink link = line_of_bytes();
  link.order = model::LinkOrder::kPriority;
  const LinkQueue queue(link, 0,
                        {{.period = 2'500'000, .packets = {1000}, .priority = 3},
                         {.period = 3'500'000, .packets = {1000}, .priority = 2},
                         {.period = 3'500'000, .packets = {1000}, .priority = 1}});
  EXPECT_EQ(queue.delay(0), 2 * kMs);
  EXPECT_EQ(queue.delay(1), 3 * kMs);
  EXPECT_EQ(queue.delay(2), 3'500'000);
}

TEST(LinkQueue, ASaturatedLinkHasNoBound) {
  const model::NetworkLink link = line_of_bytes();
  const LinkQueue queue(link, 0,
                        {{.period = kMs, .packets = {600}}, {.period = kMs, .packets = {600}}});
  EXPECT_FALSE(queue.delay(0));
  EXPECT_FALSE(queue.backlog());
  EXPECT_NEAR(queue.load(), 1.2, 1e-9);
}

TEST(LinkQueue, ASaturatedLinkStillBoundsWhatIsAbove) {
  model::NetworkLink link = line_of_bytes();
  link.order = model::LinkOrder::kPriority;
  const LinkQueue queue(link, 0,
                        {{.period = kMs, .packets = {600}, .priority = 1},
                         {.period = kMs, .packets = {600}, .priority = 0}});
  EXPECT_EQ(queue.delay(0), 1'200'000);
  EXPECT_FALSE(queue.delay(1));
  EXPECT_FALSE(queue.backlog());
}

TEST(LinkQueue, CrossTrafficOfTheOtherDirectionDoesNotCount) {
  model::NetworkLink link = line_of_bytes();
  link.cross_traffic = {{.from = 1, .rate_kbit = 1000, .burst_bytes = 5000}};
  const LinkQueue queue(link, 0, {{.period = 10 * kMs, .packets = {1000}}});
  EXPECT_EQ(queue.delay(0), kMs);
}

// The line is idle for 10 ms while cross traffic arrives, and then empties a full bucket.
TEST(LinkQueue, TheBacklogIsThatAtTheEndOfTheAccessTime) {
  const model::NetworkLink link{
      .name = "l",
      .between = {0, 1},
      .rate_kbit = 100'000,
      .shaper = model::Shaper{.rate_kbit = 10'000, .burst_bytes = 20'000},
      .access = std::chrono::milliseconds(10),
      .cross_traffic = {{.from = 0, .rate_kbit = 9000, .burst_bytes = 1000}}};
  const LinkQueue queue(link, 0, {{.period = 1000 * kMs, .packets = {254}}});
  EXPECT_GE(queue.backlog().value_or(0), 254 + 1000 + 11'250);
  EXPECT_LE(queue.backlog().value_or(0), 254 + 1000 + 11'250 + 1000);
}

TEST(LinkQueue, MessagesOfWhichNothingIsKnownLeaveNoBound) {
  model::NetworkLink link = line_of_bytes();
  const std::vector<LinkStream> streams{{.period = 10 * kMs, .packets = {1000}, .priority = 1},
                                        {.period = 0, .packets = {500}, .priority = 0}};
  EXPECT_FALSE(LinkQueue(link, 0, streams).delay(0));
  link.order = model::LinkOrder::kPriority;
  EXPECT_EQ(LinkQueue(link, 0, streams).delay(0), 1'500'000);
  EXPECT_FALSE(LinkQueue(link, 0, streams).delay(1));
}

}  // namespace
}  // namespace rclrt::analysis::detail
