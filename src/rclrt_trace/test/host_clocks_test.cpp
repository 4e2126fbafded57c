// SPDX-License-Identifier: Apache-2.0
#include "host_clocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace rclrt::trace {
namespace {

constexpr std::int64_t kMs_ns = 1'000'000;
constexpr std::int64_t kSecond_ns = 1000 * kMs_ns;

/// Adds the events of messages between hosts. Each host has one publisher and one subscription,
/// all of one topic.
class Messages {
 public:
  explicit Messages(std::uint32_t hosts) {
    for (std::uint32_t host = 0; host < hosts; ++host) {
      TraceEvent event = of(host, EventKind::kPublisherInit, 0);
      event.numbers[2] = 1;
      event.texts[0] = "/t";
      taken.take(event);
      event.kind = EventKind::kSubscriptionInit;
      taken.take(event);
    }
  }

  void send(std::uint32_t from, std::int64_t sent_ns, std::uint32_t to, std::int64_t received_ns) {
    TraceEvent event = of(from, EventKind::kRmwPublish, sent_ns);
    event.numbers[0] = 1;
    event.numbers[1] = ++stamp_;
    taken.take(event);
    event = of(to, EventKind::kRmwTake, received_ns);
    event.numbers[0] = 1;
    event.numbers[1] = stamp_;
    event.numbers[2] = 1;
    taken.take(event);
  }

  HostMessages taken;

 private:
  static TraceEvent of(std::uint32_t host, EventKind kind, std::int64_t time_ns) {
    TraceEvent event;
    event.kind = kind;
    event.host = host;
    event.space = host;
    event.time_ns = time_ns;
    return event;
  }
  std::uint64_t stamp_ = 0;
};

TEST(HostClocks, TheErrorBehindAnotherHostContainsTheTruthAtItsEdge) {
  // The second clock loses a thousandth. Its messages with the first one take 1 us. Messages of the
  // third host take no time in one direction, so the truth is at the edge of its interval.
  const auto second = [](std::int64_t true_ns) {
    return static_cast<std::int64_t>(std::llround(static_cast<double>(true_ns) / 1.001));
  };
  Messages messages(3);
  for (std::int64_t at_ns = kSecond_ns; at_ns < 3 * kSecond_ns; at_ns += 10 * kMs_ns) {
    messages.send(0, at_ns, 1, second(at_ns + 1000));
    messages.send(1, second(at_ns + 2000), 0, at_ns + 3000);
  }
  const std::int64_t true_ns = 2 * kSecond_ns;
  const std::int64_t third_ns = second(true_ns) + 7 * kSecond_ns;
  messages.send(1, second(true_ns), 2, third_ns + 1);
  messages.send(2, third_ns, 1, second(true_ns) + 100 * kMs_ns);
  messages.taken.join();
  const std::vector<TracedHost> hosts(3);
  const HostClocks clocks(hosts, messages.taken, {}, 500);
  const std::int64_t wrong_ns = std::abs(clocks.common_ns(2, third_ns) - true_ns);
  EXPECT_GT(wrong_ns, 50 * kMs_ns + 45'000) << "more than half of the width, because of the drift";
  EXPECT_LE(wrong_ns, clocks.error_ns(2, third_ns));
}

TEST(HostClocks, TheLengthOfATimeIsAsWrongAsTwoClocksMayBe) {
  Messages messages(3);
  for (const std::uint32_t host : {1U, 2U}) {
    messages.send(host - 1, kSecond_ns, host, kSecond_ns + kMs_ns);
    messages.send(host, kSecond_ns + kMs_ns, host - 1, kSecond_ns + 2 * kMs_ns);
  }
  messages.taken.join();
  const std::vector<TracedHost> hosts(3);
  const HostClocks clocks(hosts, messages.taken, {}, 100'000);
  // 2 * 0.1 / (1 - 0.1) = 0.2222 of two clocks: 1.2222 / 0.7778 - 1.
  EXPECT_NEAR(static_cast<double>(clocks.stretch_ppb(1)) / 1e9, 0.5714, 0.0001);
  EXPECT_NEAR(static_cast<double>(clocks.stretch_ppb(2)) / 1e9, 1.5714 * 1.5714 - 1, 0.0003);
  EXPECT_EQ(clocks.stretch_ppb(0), 0);
  EXPECT_GT(clocks.drift_ppb(2), 2 * clocks.drift_ppb(1));
  // The inverse stands still in spite of the large drift.
  for (const std::int64_t at_ns : {kSecond_ns, 2 * kSecond_ns, 5 * kSecond_ns}) {
    const std::int64_t local_ns = clocks.local_ns(2, at_ns);
    EXPECT_NEAR(static_cast<double>(clocks.common_ns(2, local_ns)), static_cast<double>(at_ns), 5);
  }
}

}  // namespace
}  // namespace rclrt::trace
