// SPDX-License-Identifier: Apache-2.0
// Answers pings after some work: each path in a callback group of its own.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <std_msgs/msg/int32.hpp>
#include <string>

#include "experiment.hpp"

namespace rclrt::demos {

/// A node with two groups, to be added to two executors.
class PongNode {
 public:
  /// Makes the node. Throws std::invalid_argument for an invalid parameter.
  explicit PongNode(const std::shared_ptr<Context>& context);

  Node& node() { return node_; }
  const std::shared_ptr<CallbackGroup>& high_group() const { return high_.group; }
  const std::shared_ptr<CallbackGroup>& low_group() const { return low_.group; }

  /// Waits until a ping node is matched. Returns false if none comes within `timeout`.
  bool wait_for_ping_node(std::chrono::nanoseconds timeout) const;

  /// Reads and keeps the CPU time that the threads of the two groups have used so far, including
  /// the answer that they compute now. Call it while the executors spin.
  void read_cpu_times();
  /// Prints the CPU times that read_cpu_times() has read, or those at the last answers if they are
  /// larger. Call it when no executor spins.
  void print_statistics() const;

 private:
  struct Path {
    Path(Node& node, const std::string& name);
    void answer(const std_msgs::msg::Int32& ping);
    void read_cpu_time();

    const Seconds work;
    const std::shared_ptr<CallbackGroup> group;
    const std::shared_ptr<Publisher<std_msgs::msg::Int32>> pongs;
    std::shared_ptr<Subscription<std_msgs::msg::Int32>> pings;
    // The CPU-time clock of the one thread that runs the group. That thread writes it, and another
    // reads it once. No other data depends on the value, so relaxed is enough.
    std::atomic<clockid_t> thread_clock;
    std::int64_t answered_cpu_ns = 0;  // of the thread, at its last answer
    std::int64_t read_cpu_ns = 0;      // at the call of read_cpu_times
  };

  Node node_;
  Path high_;
  Path low_;
};

}  // namespace rclrt::demos
