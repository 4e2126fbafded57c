// SPDX-License-Identifier: Apache-2.0
// One direction of a link in a simulation: packets, a token bucket, a line, and other traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "rclrt/analysis/simulation.hpp"
#include "simulation/processors.hpp"

namespace rclrt::analysis::detail {

/// Sends one packet at a time. A packet is chosen when the line is free, and then waits for tokens.
class SimulatedQueue {
 public:
  /// Keeps a reference to `stated`.
  SimulatedQueue(const SimulatedLink& stated, SimulationRandom random);

  /// Adds a message, with other traffic before it.
  void push(Id message, const std::vector<std::size_t>& packets, int priority, std::int64_t now_ns);

  /// A message of which the last bit has left the line.
  struct Sent {
    Id message = kNone;
    std::int64_t since_ns = 0;  // when it arrived here
  };

  /// Proceeds up to a time. Returns the messages that have left the line at that time. `observe`
  /// gets each packet that has.
  std::vector<Sent> proceed(std::int64_t now_ns,
                            const std::function<void(const SimulatedPacket&)>& observe);

  /// Returns when to call proceed() next; kNever: not before the next push().
  std::int64_t next_ns() const { return next_ns_; }

  /// Returns the time from the line to the other host.
  std::int64_t draw_latency();

  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  struct Packet {
    std::size_t bytes = 0;
    std::int64_t tokens_ns = 0;  // of the bucket, in time at its rate
    std::int64_t line_ns = 0;
    Id message = kNone;  // of which it is the last packet
    std::int64_t since_ns = 0;
  };

  /// The tokens of other traffic: a byte is kBit of them.
  struct Traffic {
    std::size_t stated = 0;  // index into the link's cross_traffic
    std::int64_t level = 0;
    std::int64_t since_ns = 0;
  };

  Packet make_packet(std::size_t bytes, bool is_other) const;
  void add(const Packet& packet, int priority);
  void add_other_traffic(std::int64_t now_ns);
  void choose(std::int64_t now_ns);
  std::int64_t start_ns() const;
  void start(std::int64_t now_ns);

  const SimulatedLink& stated_;
  SimulationRandom random_;
  std::map<int, std::deque<Packet>, std::greater<>> waiting_;  // by priority; one for FIFO
  std::optional<Packet> chosen_;                               // waits for tokens, or is sent
  bool sends_ = false;
  std::int64_t sent_from_ns_ = 0;
  std::int64_t next_ns_;
  std::int64_t usable_ns_ = 0;  // the line is idle before: NetworkLink::access
  std::int64_t burst_ns_ = 0;
  std::int64_t tokens_ns_ = 0;
  std::int64_t tokens_since_ns_ = 0;
  std::vector<Traffic> other_;
  bool others_send_ = false;  // in this period, whenever their tokens allow it
  std::int64_t bytes_ = 0;
  std::int64_t most_bytes_ = 0;
};

}  // namespace rclrt::analysis::detail
