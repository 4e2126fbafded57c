// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulated_hosts.hpp"
#include "times.hpp"

namespace {

using rclrt::clock::Event;
using rclrt::clock::EventKind;
using rclrt::clock::Exchange;
using rclrt::clock::PeerState;
using rclrt::clock::testing::kMillisecond;
using rclrt::clock::testing::kSecond;
using rclrt::clock::testing::kYear2026;
using rclrt::clock::testing::Network;
using rclrt::clock::testing::SimulatedHost;
using rclrt::clock::testing::two_hosts;
using rclrt_msgs::msg::ClockPing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

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
      const std::int64_t by_ns = std::int64_t{1'000} << (network.random() % 17);
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

TEST(Exchange, APingOfAPeerMakesAnIntervalOfTheSameEpochUntilItsClockIsSet) {
  Network network = two_hosts(8);
  network.run_until(10 * kSecond);
  const auto before = network.hosts[0].exchange->take_intervals();
  ASSERT_GT(before.size(), 50U);
  EXPECT_FALSE(before.front().is_known) << "not answered yet";
  EXPECT_TRUE(before.back().is_known);
  EXPECT_EQ(before.back().peer, "there");
  EXPECT_EQ(before.back().epoch, before.front().epoch);
  const std::int64_t truth_ns =
      network.hosts[1].at(network.now_ns).realtime_ns - network.hosts[0].at(network.now_ns).raw_ns;
  EXPECT_LE(before.back().low_ns, truth_ns + 20'000);
  EXPECT_GE(before.back().high_ns, truth_ns - 20'000);
  ++network.hosts[0].sets;  // the own clock has no effect
  network.hosts[0].offset_ns += 7;
  network.run_until(12 * kSecond);
  EXPECT_EQ(network.hosts[0].exchange->take_intervals().back().epoch, before.back().epoch);
  ++network.hosts[1].sets;
  network.run_until(14 * kSecond);
  EXPECT_NE(network.hosts[0].exchange->take_intervals().back().epoch, before.back().epoch);
}

TEST(Exchange, TwoMachinesOfOneNameDoNotShareAnEpoch) {
  Network network = two_hosts(8);
  Exchange& exchange = *network.hosts[0].exchange;
  ClockPing ping = network.hosts[1].exchange->next_ping(network.hosts[1].at(kSecond));
  exchange.take(ping, network.hosts[0].at(kSecond));
  ++ping.boot;
  exchange.take(ping, network.hosts[0].at(kSecond + kMillisecond));
  const auto intervals = exchange.take_intervals();
  ASSERT_EQ(intervals.size(), 2U);
  EXPECT_EQ(intervals[0].peer, intervals[1].peer);
  EXPECT_NE(intervals[0].epoch, intervals[1].epoch);
}

TEST(Exchange, AClockThatItsProcessDidNotSeeSetIsFollowedWithItsNextPing) {
  Network network = two_hosts(2);
  network.run_until(10 * kSecond);
  kinds(*network.hosts[0].exchange);
  network.hosts[1].offset_ns += 500 * kMillisecond;
  network.run_until(12 * kSecond);
  expect_true(only_peer(network), network.truth());
}

TEST(Exchange, ASuspendedMachineIsFoundByContradiction) {
  Network network = two_hosts(2);
  network.run_until(10 * kSecond);
  kinds(*network.hosts[0].exchange);
  network.hosts[1].slept_ns += 5 * kSecond;
  network.run_until(12 * kSecond);
  EXPECT_THAT(kinds(*network.hosts[0].exchange), Contains(EventKind::kStep));
  EXPECT_TRUE(only_peer(network).offset);
  expect_true(only_peer(network), network.truth());
}

TEST(Exchange, IntervalsFollowAClockThatIsSlewedFarAboveTheDrift) {
  for (const double slew_ppm : {500.0, -500.0, 83'333.0}) {
    Network network = two_hosts(9);
    network.typical_delay_ns = 20'000;
    network.run_until(10 * kSecond);
    network.hosts[1].slewed_from_ns = network.now_ns;
    network.hosts[1].slew_ppm = slew_ppm;
    network.run_until(11 * kSecond);  // from then on, the rate is known
    network.hosts[0].exchange->take_intervals();
    std::uint64_t intervals = 0;
    network.run_until(30 * kSecond, [&](const ClockPing& ping) {
      ++intervals;
      const PeerState peer = only_peer(network);
      expect_true(peer, network.truth());
      // Those for stamps between the last two pings need no such assumption.
      for (const auto& each : network.hosts[0].exchange->take_intervals()) {
        const std::int64_t truth_ns = ping.realtime_ns - ping.raw_ns +
                                      (network.hosts[1].at(network.now_ns).raw_ns -
                                       network.hosts[0].at(network.now_ns).raw_ns);
        ASSERT_LE(each.low_ns, truth_ns + 1);
        ASSERT_GE(each.high_ns, truth_ns - 1);
      }
    });
    EXPECT_GT(intervals, 100U);
    EXPECT_EQ(only_peer(network).steps, 0U);
  }
}

TEST(Exchange, ManyProcessesOfAHostAndASpoofedNumberMuteNoPeer) {
  Network network = two_hosts(10);
  network.run_until(10 * kSecond);
  Exchange& here = *network.hosts[0].exchange;
  kinds(here);
  for (std::uint64_t session = 100; session < 120; ++session) {
    ClockPing ping = network.hosts[1].exchange->next_ping(network.hosts[1].at(network.now_ns));
    ping.session = session;
    ping.sequence = session % 2 == 0 ? 0 : 5;
    ping.answers.clear();
    here.take(ping, network.hosts[0].at(network.now_ns));
  }
  EXPECT_THAT(kinds(here), ElementsAre(EventKind::kTooMany));
  ClockPing spoofed = network.hosts[1].exchange->next_ping(network.hosts[1].at(network.now_ns));
  spoofed.sequence = UINT64_MAX;
  here.take(spoofed, network.hosts[0].at(network.now_ns));
  network.run_until(20 * kSecond);
  EXPECT_FALSE(only_peer(network).is_silent);
  EXPECT_LT(*only_peer(network).age_ns, kSecond);
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
    ping.raw_ns = times[pick(times.size())];
    ping.realtime_ns = times[pick(times.size())];
    ping.reading_ns = times[pick(times.size())] / 2;
    ping.period_ns = times[pick(times.size())];
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
    EXPECT_TRUE(!peer.offset || peer.offset->low_ns <= peer.offset->high_ns);
  }
  EXPECT_LE(exchange.take_events().size(), 1'000U);
}

}  // namespace
