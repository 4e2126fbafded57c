// SPDX-License-Identifier: Apache-2.0
// Sends a ping on both paths each period, and keeps when each came back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <std_msgs/msg/int32.hpp>
#include <string>
#include <vector>

#include "experiment.hpp"

namespace rclrt::demos {

/// Its three callbacks (the timer and a subscription for each path) are one group, and read or
/// write everything below: no lock is needed.
class PingNode {
 public:
  /// Throws std::invalid_argument for a parameter that cannot be.
  explicit PingNode(const std::shared_ptr<Context>& context);

  Node& node() { return node_; }

  /// Waits until a pong node is there; false when none comes within `timeout`.
  bool wait_for_pong_node(std::chrono::nanoseconds timeout) const;

  /// Prints how many pings were sent and answered, and how late. When no executor spins.
  void print_statistics(Seconds duration) const;

 private:
  struct Path {
    std::string name;
    std::shared_ptr<Publisher<std_msgs::msg::Int32>> pings;
    std::shared_ptr<Subscription<std_msgs::msg::Int32>> pongs;
    std::vector<bool> answered;        // by the number of the ping
    std::vector<double> round_trip_s;  // of those that were answered
  };

  void create_path(Path& path, const std::shared_ptr<CallbackGroup>& group);
  void send();
  void on_pong(Path& path, std::int32_t number);
  void print_path(const std::string& title, const Path& path) const;

  Node node_;
  const Seconds period_;
  Path high_{"high"};
  Path low_{"low"};
  std::shared_ptr<Timer> timer_;
  std::vector<std::int64_t> sent_ns_;  // by the number of the ping
};

}  // namespace rclrt::demos
