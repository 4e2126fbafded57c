// SPDX-License-Identifier: Apache-2.0
// Hosts with clocks of their own, and a network between them, in simulated time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <rclrt_msgs/msg/clock_ping.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "exchange.hpp"
#include "times.hpp"

namespace rclrt::clock::testing {

using rclrt_msgs::msg::ClockPing;

/// A host with a clock of its own, as a function of true time.
struct SimulatedHost {
  std::string name;
  double ppm = 0;
  std::int64_t offset_ns = 0;
  std::uint64_t sets = 0;
  std::uint64_t session = 0;
  std::unique_ptr<Exchange> exchange{};
  bool runs = true;

  std::int64_t slept_ns = 0;  // CLOCK_MONOTONIC_RAW does not run in a suspended machine
  double slew_ppm = 0;        // from `slewed_from_ns` on
  std::int64_t slewed_from_ns = 0;

  HostTime at(std::int64_t true_ns) const {
    const auto gain = [](std::int64_t time_ns, double by_ppm) {
      return static_cast<std::int64_t>(static_cast<double>(time_ns) * by_ppm / 1e6);
    };
    const std::int64_t own_ns = true_ns + gain(true_ns, ppm);
    const std::int64_t slewed_ns = gain(true_ns - slewed_from_ns, slew_ppm);
    return {.realtime_ns = kYear2026 + offset_ns + own_ns + slewed_ns,
            .monotonic_ns = own_ns - slept_ns + slewed_ns,
            .raw_ns = own_ns - slept_ns,
            .reading_ns = 0,
            .sets = sets};
  }
  void start(std::uint64_t number) {
    session = number;
    exchange =
        std::make_unique<Exchange>(ExchangeOptions{.host = name, .boot = 1, .session = session});
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

inline Network two_hosts(std::uint64_t seed) {
  Network network(seed);
  network.hosts.push_back({.name = "here", .ppm = -50});
  network.hosts.push_back({.name = "there", .ppm = 50, .offset_ns = 40 * kMillisecond});
  network.hosts[0].start(10);
  network.hosts[1].start(11);
  return network;
}

}  // namespace rclrt::clock::testing
