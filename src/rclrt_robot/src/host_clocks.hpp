// SPDX-License-Identifier: Apache-2.0
// The clocks of other hosts, from the reports of `rclrt clock` on this host.
#pragma once

#include <rmw/types.h>

#include <cstdint>
#include <map>
#include <rclrt_msgs/msg/clock_interval.hpp>
#include <string>
#include <utility>

#include "remote_age.hpp"

namespace rclrt_robot {

/// Returns a number of the publisher of a message, by its GID.
std::uint64_t publisher_number(const rmw_gid_t& gid) noexcept;

/// The topic on which rclrt_clock publishes its intervals.
inline constexpr const char* kClockTopic = "/rclrt/clock/intervals";

/// Keeps the clocks of peers. Uses reports of this machine only, by the number of its boot; if
/// several hosts share the machine, as containers do, only those of the host with this name.
/// Received messages are not trusted. Not thread-safe.
class HostClocks {
 public:
  static constexpr std::size_t kMostPeers = 64;

  HostClocks(std::string host, std::uint64_t boot) : host_(std::move(host)), boot_(boot) {}

  /// Takes a report that has come by `now_ns`, CLOCK_MONOTONIC_RAW. `publisher` is a number of its
  /// publisher: a report with the same session by another one is that of another process. A host
  /// that is silent for long is forgotten, as are the clocks that it knew, and a silent peer if the
  /// place is needed.
  void take(const rclrt_msgs::msg::ClockInterval& report, std::int64_t now_ns,
            std::uint64_t publisher);

  /// Returns the clock of a peer; without any report, one that is unknown.
  const PeerClock& of(const std::string& peer) const;

  /// Returns why clocks are unknown; empty: reports come.
  std::string fault() const;

 private:
  const std::string host_;
  const std::uint64_t boot_;
  void forget_silent(std::int64_t now_ns);

  // The hosts of this machine that report, and when they last did.
  std::map<std::string, std::int64_t> observers_;
  std::int64_t forgot_at_ns_ = 0;
  std::map<std::pair<std::string, std::string>, PeerClock> clocks_;  // by observer and peer
};

}  // namespace rclrt_robot
