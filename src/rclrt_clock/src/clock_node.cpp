// SPDX-License-Identifier: Apache-2.0
#include "clock_node.hpp"

#include <cstdint>
#include <utility>

#include "report_lines.hpp"

namespace rclrt::clock {

using rclrt_msgs::msg::ClockInterval;
using rclrt_msgs::msg::ClockPing;

namespace {

// A ping is of no use when it is late, so it is sent once. Pings of many hosts may arrive at once.
QoS ping_qos() { return QoS(100).best_effort(); }

std::string node_name(std::uint64_t session) { return "rclrt_clock_" + std::to_string(session); }

}  // namespace

ClockNode::ClockNode(const std::shared_ptr<Context>& context, const Settings& settings,
                     ExchangeOptions options, HostClock clock, Write write,
                     std::function<void()> finish)
    : node_(context, node_name(options.session), "/", {.parameter_services = false}),
      exchange_(std::move(options)),
      clock_(std::move(clock)),
      write_(std::move(write)) {
  // Late pings are left out, so that a busy host does not send several at once.
  const TimerOptions skip{.overrun = OverrunPolicy::kSkip, .depth = 1};
  const CallbackOptions exclusive{.group = node_.create_callback_group()};
  pings_ = node_.create_publisher<ClockPing>(settings.topic, ping_qos());
  intervals_ = node_.create_publisher<ClockInterval>(settings.topic + "/intervals", ping_qos());
  node_.create_subscription<ClockPing>(
      settings.topic, ping_qos(), [this](const ClockPing& ping) { take(ping); }, exclusive);
  node_.create_wall_timer(
      settings.period, [this] { pings_->publish(exchange_.next_ping(clock_.now())); }, exclusive,
      skip);
  node_.create_wall_timer(settings.report, [this] { report(); }, exclusive, skip);
  if (settings.duration) {
    node_.create_wall_timer(*settings.duration, std::move(finish), exclusive, skip);
  }
}

void ClockNode::take(const ClockPing& ping) {
  exchange_.take(ping, clock_.now());
  for (const ClockInterval& interval : exchange_.take_intervals()) {
    intervals_->publish(interval);
  }
}

void ClockNode::write(const std::string& line) { lost_lines_ += write_(line) ? 0 : 1; }

void ClockNode::report() {
  const HostTime now = clock_.now();
  if (lost_lines_ > 0 && write_(lost_lines_line(lost_lines_, now))) {
    lost_lines_ = 0;
  }
  const std::vector<PeerState> peers = exchange_.peers(now);
  for (const Event& event : exchange_.take_events()) {
    write(event_line(event));
  }
  for (const PeerState& peer : peers) {
    write(peer_line(peer, now));
  }
  write(report_line(peers.size(), now));
}

}  // namespace rclrt::clock
