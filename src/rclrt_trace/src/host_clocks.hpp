// SPDX-License-Identifier: Apache-2.0
// The clocks of several traced hosts on one time axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clock_file.hpp"
#include "host_messages.hpp"
#include "offset_hull.hpp"
#include "trace_reader.hpp"

namespace rclrt::trace {

/// Maps CLOCK_MONOTONIC of each host to that of the reference, the first host. The offset between
/// two hosts is an interval at each time; the mapping takes its middle, so it is wrong by at most
/// half of the width, which error_ns() returns. A message never arrives before it was sent on the
/// common axis if one of its hosts is the reference of the other one. Thread-safe after its
/// construction.
class HostClocks {
 public:
  /// The hosts that joined, and on what their offset is based.
  struct Host {
    TracedHost traced;
    std::size_t parent = 0;  ///< this clock is compared with that host's; 0: the reference
    OffsetHull hull;  ///< this clock less that of the parent, by this clock; unused for host 0
    std::uint64_t received = 0;                ///< messages of the parent that it took
    std::uint64_t sent = 0;                    ///< messages of it that the parent took
    std::uint64_t samples = 0;                 ///< intervals of rclrt clock
    std::int64_t least_error_ns = 0;           ///< where its times are known best
    std::optional<HostMessages::Span> span{};  ///< of its events, on its own clock
  };

  /// Fits the clocks. `host_drift_ppm`: see realtime::ClockOffset. Throws TraceError if a host
  /// cannot be joined: no messages, messages in one direction only, or bounds that contradict each
  /// other.
  HostClocks(std::span<const TracedHost> hosts, const HostMessages& messages,
             std::span<const ClockFile> files, double host_drift_ppm);

  /// Returns the time of the reference host at a time of a host.
  std::int64_t common_ns(std::size_t host, std::int64_t time_ns) const;
  /// Returns the inverse, exact to a few nanoseconds.
  std::int64_t local_ns(std::size_t host, std::int64_t common_ns) const;
  /// Returns how far common_ns(host, time_ns) may be from the truth, in either direction.
  std::int64_t error_ns(std::size_t host, std::int64_t time_ns) const;

  /// Returns how fast error_ns() grows on the common axis between two times, at most, in 1e-9.
  std::int64_t drift_ppb(std::size_t host) const;
  /// Returns how wrong the length of a time on one host may be on the common axis, in 1e-9.
  std::int64_t stretch_ppb(std::size_t host) const;

  const std::vector<Host>& hosts() const { return hosts_; }
  /// Returns whether messages between these hosts, in this direction, arrive on the common axis
  /// before they were sent, because neither host is the reference of the other one.
  bool are_early(std::size_t from, std::size_t to) const { return early_.contains({from, to}); }
  /// Returns what was not used, and why.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Returns by how much the time of day of a host was ahead of that of its parent at a time of the
  /// host; std::nullopt: their traces do not state the time of day.
  std::optional<realtime::OffsetInterval> time_of_day_offset(std::size_t host,
                                                             std::int64_t time_ns) const;

 private:
  struct Pair;
  Pair pair_of(std::size_t parent, std::size_t child, const HostMessages& messages) const;
  void add_samples(Pair& pair, std::span<const ClockFile> files) const;
  void fit(Pair& pair) const;
  void note_order(const HostMessages& messages);
  [[noreturn]] void refuse(std::span<const std::size_t> joined, std::size_t missing,
                           const HostMessages& messages, std::span<const ClockFile> files) const;
  std::optional<std::string> unusable(const TracedHost& peer, const ClockPeer& measured) const;
  std::string when(std::size_t host, std::int64_t time_ns) const;

  double host_drift_ppm_;
  std::vector<Host> hosts_;
  std::vector<std::string> notes_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> early_;  // messages, by hosts
};

}  // namespace rclrt::trace
