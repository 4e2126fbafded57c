// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "times.hpp"

namespace {

using rclrt::clock::Event;
using rclrt::clock::EventKind;
using rclrt::clock::Exchange;
using rclrt::clock::HostTime;
using rclrt::clock::PeerState;
using rclrt::clock::testing::kMillisecond;
using rclrt::clock::testing::kSecond;
using rclrt::clock::testing::kYear2026;
using rclrt_msgs::msg::ClockPing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

/// A host with a clock of its own, as a function of true time.
struct SimulatedHost {
  std::string name;
  double ppm = 0;
  std::int64_t offset_ns = 0;
  std::uint64_t sets = 0;
  std::uint64_t session = 0;
  std::unique_ptr<Exchange> exchange{};
  bool runs = true;

  std::int64_t monotonic(std::int64_t true_ns) const {
    return true_ns + static_cast<std::int64_t>(static_cast<double>(true_ns) * ppm / 1e6);
  }
  HostTime at(std::int64_t true_ns) const {
    return {kYear2026 + offset_ns + monotonic(true_ns), monotonic(true_ns), sets};
  }
  void start(std::uint64_t number) {
    session = number;
    exchange = std::make_unique<Exchange>(rclrt::clock::ExchangeOptions{
        .host = name, .boot = 1, .session = session, .silent_after_ns = 3 * kSecond});
  }
};

/// Hosts and the network between them. Messages may be lost, delayed and overtaken.
class Network {
 public:
  explicit Network(std::uint64_t seed) : random(seed) {}

  /// Calls `at_each` after each message that host 0 has taken.
  void run_until(
      std::int64_t end_ns, const std::function<void(const ClockPing&)>& at_each = [](auto&) {}) {
    while (now_ns < end_ns) {
      const std::int64_t next_ns =
          std::min(next_ping_ns_, arrivals_.empty() ? INT64_MAX : std::get<0>(arrivals_.top()));
      now_ns = std::min(next_ns, end_ns);
      if (now_ns == next_ping_ns_) {
        ping();
      } else if (next_ns <= end_ns) {
        const auto [at_ns, number, to, message] = arrivals_.top();
        arrivals_.pop();
        if (hosts[to].runs) {
          hosts[to].exchange->take(message, hosts[to].at(now_ns));
          if (to == 0) {
            at_each(message);
          }
        }
      }
    }
  }

  /// Returns the offset of host 1 as host 0 sees it; the truth is that of the two clocks.
  std::int64_t truth() const {
    return hosts[1].at(now_ns).realtime_ns - hosts[0].at(now_ns).realtime_ns;
  }

  std::vector<SimulatedHost> hosts;
  std::mt19937_64 random;
  std::int64_t now_ns = kSecond;
  double loss = 0;
  std::int64_t typical_delay_ns = kMillisecond / 5;

 private:
  using Arrival = std::tuple<std::int64_t, std::uint64_t, std::size_t, ClockPing>;
  struct Later {
    bool operator()(const Arrival& a, const Arrival& b) const {
      return std::tie(std::get<0>(a), std::get<1>(a)) > std::tie(std::get<0>(b), std::get<1>(b));
    }
  };

  void ping() {
    const std::size_t from = next_host_++ % hosts.size();
    next_ping_ns_ += 100 * kMillisecond / static_cast<std::int64_t>(hosts.size());
    if (!hosts[from].runs) {
      return;
    }
    const ClockPing ping = hosts[from].exchange->next_ping(hosts[from].at(now_ns));
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      if (std::uniform_real_distribution<>(0, 1)(random) < loss) {
        continue;
      }
      // Longer than a period at times, so that messages overtake each other.
      std::exponential_distribution<double> delay(1.0 / static_cast<double>(typical_delay_ns));
      const bool is_late = random() % 20 == 0;
      const auto delay_ns = static_cast<std::int64_t>(delay(random) * (is_late ? 300 : 1));
      arrivals_.emplace(now_ns + 20'000 + delay_ns, ++messages_, to, ping);
    }
  }

  std::priority_queue<Arrival, std::vector<Arrival>, Later> arrivals_;
  std::int64_t next_ping_ns_ = 2 * kSecond;
  std::size_t next_host_ = 0;
  std::uint64_t messages_ = 0;
};

Network two_hosts(std::uint64_t seed) {
  Network network(seed);
  network.hosts.push_back({.name = "here", .ppm = -50});
  network.hosts.push_back({.name = "there", .ppm = 50, .offset_ns = 40 * kMillisecond});
  network.hosts[0].start(10);
  network.hosts[1].start(11);
  return network;
}

PeerState only_peer(Network& network) {
  const std::vector<PeerState> peers =
      network.hosts[0].exchange->peers(network.hosts[0].at(network.now_ns));
  EXPECT_LE(peers.size(), 1U);
  return peers.empty() ? PeerState{} : peers.front();
}

std::vector<EventKind> kinds(Exchange& exchange) {
  std::vector<EventKind> result;
  for (const Event& each : exchange.take_events()) {
    result.push_back(each.kind);
  }
  return result;
}

/// Fails unless the interval contains the truth, but for a nanosecond of the simulated clocks.
void expect_true(const PeerState& peer, std::int64_t truth_ns) {
  if (peer.offset) {
    ASSERT_LE(peer.offset->low_ns, truth_ns + 1);
    ASSERT_GE(peer.offset->high_ns, truth_ns - 1);
  }
}

TEST(Exchange, EveryIntervalContainsTheOffset) {
  std::uint64_t intervals = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Network network = two_hosts(seed);
    network.loss = seed % 2 == 0 ? 0 : 0.3;
    network.run_until(60 * kSecond, [&](const ClockPing&) {
      const PeerState peer = only_peer(network);
      intervals += peer.offset ? 1 : 0;
      expect_true(peer, network.truth());
    });
    const PeerState peer = only_peer(network);
    ASSERT_TRUE(peer.offset);
    EXPECT_LT(peer.offset->width_ns(), kMillisecond);
    EXPECT_EQ(peer.steps, 0U);
    EXPECT_GT(peer.lost, network.loss > 0 ? 100U : 0U) << "lost and overtaken ones";
  }
  EXPECT_GT(intervals, 10'000U);
}

TEST(Exchange, NoIntervalIsFalseWhileClocksAreSet) {
  std::uint64_t sets = 0;
  std::uint64_t intervals = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Network network = two_hosts(seed);
    std::uint64_t seen_sets = 0;  // of host 1, as of its pings
    for (std::int64_t end_ns = 3 * kSecond; end_ns < 60 * kSecond;
         end_ns += static_cast<std::int64_t>(network.random() % (3 * kSecond))) {
      network.run_until(end_ns, [&](const ClockPing& ping) {
        if (ping.host == "there") {
          seen_sets = std::max(seen_sets, ping.clock_sets);
        }
        // A ping that was sent before the clock was set shows nothing of it.
        if (seen_sets == network.hosts[1].sets) {
          const PeerState peer = only_peer(network);
          intervals += peer.offset ? 1 : 0;
          expect_true(peer, network.truth());
        }
      });
      SimulatedHost& host = network.hosts[network.random() % 2];
      // From 1 µs to 0.1 s: most are too small to be contradicted.
      const auto by_ns = static_cast<std::int64_t>(1'000U << (network.random() % 17));
      host.offset_ns += network.random() % 2 == 0 ? by_ns : -by_ns;
      ++host.sets;
      ++sets;
    }
  }
  EXPECT_GT(intervals, 5'000U);
  EXPECT_GT(sets, 500U);
}

TEST(Exchange, AClockThatWasSetIsReportedOnBothHosts) {
  Network network = two_hosts(1);
  network.typical_delay_ns = 1'000;
  network.run_until(10 * kSecond);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), ElementsAre(EventKind::kAppeared));
  network.hosts[1].offset_ns -= 5'000;
  ++network.hosts[1].sets;
  network.run_until(12 * kSecond);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), ElementsAre(EventKind::kPeerClockSet));
  const std::vector<Event> own = network.hosts[1].exchange->take_events();
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[1].kind, EventKind::kClockSet);
  EXPECT_EQ(own[1].host, "there");
  EXPECT_EQ(own[1].by_ns, -5'000);
  EXPECT_EQ(only_peer(network).steps, 1U);
}

TEST(Exchange, AnUnreportedStepIsFoundByContradiction) {
  Network network = two_hosts(2);
  network.run_until(10 * kSecond);
  kinds(*network.hosts[0].exchange);
  network.hosts[1].offset_ns += 500 * kMillisecond;  // without a word: its process did not see it
  network.run_until(12 * kSecond);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), Contains(EventKind::kStep));
  expect_true(only_peer(network), network.truth());
}

TEST(Exchange, AHostThatVanishesIsSilentAndComesBack) {
  Network network = two_hosts(3);
  network.run_until(10 * kSecond);
  const std::int64_t width_ns = only_peer(network).offset->width_ns();
  kinds(*network.hosts[0].exchange);
  network.hosts[1].runs = false;
  network.run_until(20 * kSecond);
  const PeerState peer = only_peer(network);
  EXPECT_TRUE(peer.is_silent);
  EXPECT_GT(*peer.age_ns, 9 * kSecond);
  EXPECT_GT(peer.offset->width_ns(), width_ns + 1'800'000) << "200 ppm in nine seconds and more";
  expect_true(peer, network.truth());
  EXPECT_THAT(kinds(*network.hosts[0].exchange), ElementsAre(EventKind::kSilent));
  network.hosts[1].runs = true;
  network.run_until(22 * kSecond);
  EXPECT_FALSE(only_peer(network).is_silent);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), ElementsAre(EventKind::kBack));
}

TEST(Exchange, AnotherProcessOfAHostTakesOverWhenTheFirstIsSilent) {
  Network network = two_hosts(4);
  network.run_until(10 * kSecond);
  kinds(*network.hosts[0].exchange);
  network.hosts[1].start(12);
  network.hosts[1].offset_ns += 300;  // not seen by the new process
  network.run_until(12 * kSecond);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), IsEmpty()) << "the first may still run";
  network.run_until(20 * kSecond);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), Contains(EventKind::kRestarted));
  EXPECT_TRUE(only_peer(network).offset);
  expect_true(only_peer(network), network.truth());
}

TEST(Exchange, ProcessesOfTheSameHostAreNotPeers) {
  Network network(5);
  for (const std::uint64_t session : {1, 2}) {
    network.hosts.push_back({.name = "here"});
    network.hosts.back().start(session);
  }
  network.run_until(5 * kSecond);
  EXPECT_THAT(network.hosts[0].exchange->peers(network.hosts[0].at(network.now_ns)), IsEmpty());
}

TEST(Exchange, AnotherMachineWithTheSameNameIsAPeerAndReported) {
  Network network = two_hosts(6);
  ClockPing ping = network.hosts[0].exchange->next_ping(network.hosts[0].at(kSecond));
  ping.boot = 2;
  ping.session = 99;
  network.hosts[0].exchange->take(ping, network.hosts[0].at(2 * kSecond));
  EXPECT_THAT(kinds(*network.hosts[0].exchange),
              ElementsAre(EventKind::kAppeared, EventKind::kSameName));
}

TEST(Exchange, WhateverIsReceivedIsBoundedAndHarmless) {
  Network network = two_hosts(7);
  Exchange& exchange = *network.hosts[0].exchange;
  std::int64_t now_ns = kSecond;
  const std::vector<std::int64_t> times{INT64_MIN, -1, 0, 1, kYear2026, INT64_MAX};
  for (int i = 0; i < 20'000; ++i) {
    ClockPing ping;
    const auto pick = [&](auto most) { return network.random() % most; };
    ping.host = pick(10) == 0 ? "\x1b[2J" : "host" + std::to_string(pick(100));
    ping.boot = pick(2);
    ping.session = pick(20);
    ping.sequence = pick(3) == 0 ? UINT64_MAX - pick(3) : pick(1'000);
    ping.clock_sets = pick(3);
    ping.sent_ns = times[pick(times.size())];
    for (std::uint64_t answers = pick(4); answers > 0; --answers) {
      auto& answer = ping.answers.emplace_back();
      answer.session = 10;
      answer.sequence = pick(50);
      answer.received_ns = times[pick(times.size())];
    }
    now_ns += static_cast<std::int64_t>(pick(kMillisecond));
    exchange.take(ping, network.hosts[0].at(now_ns));
    if (i % 100 == 0) {
      EXPECT_LE(exchange.next_ping(network.hosts[0].at(now_ns)).answers.size(),
                Exchange::kMostPeers * Exchange::kMostSessions);
    }
  }
  const std::vector<PeerState> peers = exchange.peers(network.hosts[0].at(now_ns));
  EXPECT_EQ(peers.size(), Exchange::kMostPeers);
  for (const PeerState& peer : peers) {
    EXPECT_EQ(peer.host.find("host"), 0U);
  }
  EXPECT_LE(exchange.take_events().size(), 1'000U);
}

}  // namespace
