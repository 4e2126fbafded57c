// SPDX-License-Identifier: Apache-2.0
// Network calculus of one direction of a link: the longest time that a message waits and is
// transmitted, and the most bytes that wait. The proofs are in docs/explanation/links.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/network.hpp"

namespace rclrt::analysis::detail {

/// Returns the time that so many bytes take at a rate in kbit/s, rounded up; in ns.
Ticks time_on_line(std::size_t bytes, std::uint64_t rate_kbit);

/// Messages of one kind that arrive at a link: at most floor((t + jitter) / period) + 1 within any
/// closed interval of length t.
struct LinkStream {
  Ticks period{};  ///< 0: nothing is known of when they arrive
  Ticks jitter{};
  std::vector<std::size_t> packets{};  ///< sizes on the line, as NetworkLink::packets() has them
  int priority{};
};

/// One direction of a link with the streams that share it.
class LinkQueue {
 public:
  /// Keeps a reference to the link. `from`: the host that sends, for its cross traffic.
  LinkQueue(const model::NetworkLink& link, std::size_t from, std::vector<LinkStream> streams);

  /// Returns the longest time from the arrival of a message of this stream until its last bit has
  /// left the line, without NetworkLink::latency. nullopt: no bound.
  std::optional<Ticks> delay(std::size_t stream) const;

  /// Returns the most bytes that have arrived and have not left the line; nullopt: no bound.
  std::optional<std::int64_t> backlog() const;

  /// Returns the share of the rate that all traffic needs in the long run. Streams of which nothing
  /// is known are not part of it.
  double load() const {
    return load_of([](int) { return true; });
  }

  /// Returns whether something is known of the arrivals of all streams.
  bool is_known() const;

  /// Returns whether something is known of the arrivals of this stream.
  bool knows_stream(std::size_t stream) const { return streams_[stream].period > 0; }

 private:
  using Chosen = std::function<bool(int priority)>;

  struct Work {
    Ticks limited{};  // of all packets, at the lowest rate that applies: of the shaper, or the line
    Ticks line{};     // of all packets on the line
    Ticks last{};     // of the last packet, as `limited`
    std::int64_t bytes{};
    std::int64_t packets{};
  };

  /// The work that arrives within a closed interval.
  struct Arrived {
    Ticks limited{};
    Ticks line{};
    std::int64_t bytes{};
    std::int64_t packets{};
  };

  /// Work that grows no faster than a line: offset + slope x t.
  struct Line {
    double offset{};
    double slope{};
  };

  Ticks count(std::size_t stream, Ticks within) const;
  Arrived arrived(Ticks within, const Chosen& chosen) const;
  Line line_above(const Chosen& chosen) const;
  double load_of(const Chosen& chosen) const { return line_above(chosen).slope; }
  bool knows(const Chosen& chosen) const;
  Ticks next_arrival(Ticks after, const Chosen& chosen) const;
  std::size_t largest_bytes(const Chosen& chosen) const;
  Ticks largest_packet(const Chosen& chosen, std::uint64_t rate_kbit) const {
    return time_on_line(largest_bytes(chosen), rate_kbit);
  }
  std::int64_t served(Ticks time, std::int64_t packets) const;
  std::optional<Ticks> fifo_delay() const;
  std::optional<Ticks> priority_delay(std::size_t stream) const;
  std::optional<Ticks> start_of_last(Ticks before, int above) const;

  const model::NetworkLink& link_;
  std::uint64_t limit_kbit_;  // the lowest rate that applies
  std::vector<model::CrossTraffic> cross_;
  std::vector<LinkStream> streams_;
  std::vector<Work> work_;
  mutable int steps_ = 0;  // that start_of_last() has left
};

}  // namespace rclrt::analysis::detail
