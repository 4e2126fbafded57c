// SPDX-License-Identifier: Apache-2.0
// The node that sends and answers pings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <rclrt_msgs/msg/clock_interval.hpp>
#include <rclrt_msgs/msg/clock_ping.hpp>
#include <string>

#include "command_line.hpp"
#include "exchange.hpp"
#include "host_clock.hpp"
#include "rclrt/rclrt.hpp"

namespace rclrt::clock {

/// Sends the pings of an exchange, takes those of others, and writes lines. All its callbacks are
/// in one group, so they exclude each other.
class ClockNode {
 public:
  /// Gets each line. Returns false if it has no room for it; must not wait for a reader, because
  /// pings would wait, too.
  using Write = std::function<bool(const std::string&)>;

  /// Makes the node. `finish` is called when the time is over. Throws Error.
  ClockNode(const std::shared_ptr<Context>& context, const Settings& settings,
            ExchangeOptions options, HostClock clock, Write write, std::function<void()> finish);

  Node& node() noexcept { return node_; }

  /// Takes a ping, and publishes the peer's interval.
  void take(const rclrt_msgs::msg::ClockPing& ping);

  /// Writes the peers and the events since the last call.
  void report();

 private:
  void write(const std::string& line);

  Node node_;
  Exchange exchange_;
  HostClock clock_;
  const Write write_;
  std::uint64_t lost_lines_ = 0;  // since the last one that was written
  std::shared_ptr<Publisher<rclrt_msgs::msg::ClockPing>> pings_;
  std::shared_ptr<Publisher<rclrt_msgs::msg::ClockInterval>> intervals_;
};

}  // namespace rclrt::clock
