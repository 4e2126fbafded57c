// SPDX-License-Identifier: Apache-2.0
// Sends a ping on both paths each period, and records when each came back.
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

/// A node that sends pings on two paths and records the pongs. Its three callbacks (the timer, and
/// a subscription for each path) are in one callback group, so they never run at the same time and
/// need no lock for the data below.
class PingNode {
 public:
  /// Makes the node. Throws std::invalid_argument for an invalid parameter.
  explicit PingNode(const std::shared_ptr<Context>& context);

  Node& node() { return node_; }

  /// Waits until a pong node is matched. Returns false if none comes within `timeout`.
  bool wait_for_pong_node(std::chrono::nanoseconds timeout) const;

  /// Prints the numbers of sent and answered pings, and the round-trip times. `duration` is how
  /// long the experiment ran. Call it only when no executor spins.
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
