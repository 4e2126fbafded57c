// SPDX-License-Identifier: Apache-2.0
// The pings between hosts, and the offsets that they prove, without middleware and clocks.
//
// Every process sends a ping to all others once a period. It contains the time at which it was
// sent, and for each other process the time at which the latest ping of that process was received.
// A received ping is a lower bound of the sender's offset; the answer in it is an upper bound. So n
// hosts need n messages a period.
//
// The bounds are those of CLOCK_MONOTONIC_RAW of the two hosts, which no program sets or slews. A
// ping has the sender's CLOCK_REALTIME as well. So the offset of two CLOCK_REALTIME follows clocks
// that are set, or slewed at any rate, with each ping.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <rclrt_msgs/msg/clock_interval.hpp>
#include <rclrt_msgs/msg/clock_ping.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host_clock.hpp"
#include "rclrt/realtime/clock_offset.hpp"

namespace rclrt::clock {

/// The identity of this process, and what it assumes.
struct ExchangeOptions {
  std::string host;
  std::uint64_t boot = 0;                                     ///< see realtime::boot_number
  std::uint64_t session = 0;                                  ///< see random_session
  double host_drift_ppm = realtime::ClockOffset::kQuartzPpm;  ///< see ClockOffset
  std::int64_t period_ns = 200'000'000;
  bool is_test = false;  ///< its clock is a TestClock
};

/// Events of a clock or a peer.
enum class EventKind : std::uint8_t {
  kAppeared,      ///< a host sends its first ping
  kRestarted,     ///< another process of the host sends pings in place of the one before
  kStep,          ///< the bounds contradict each other, and the interval begins again
  kClockSet,      ///< the clock of this host was set, by `by_ns`
  kPeerClockSet,  ///< the clock of the peer was set
  kSilent,        ///< no ping for a while
  kBack,          ///< a ping after that
  kSameName,      ///< another machine has the name of this host
  kForgotten,     ///< a silent host makes room for another one
  kTestClock,     ///< the clock of the host is wrong on purpose
  kTooMany,       ///< more hosts, or processes of a host, than are kept
  kLostEvents,    ///< events that did not fit; `by_ns` is their number
};

/// An event at a time of this host.
struct Event {
  EventKind kind{};
  std::string host;  ///< of the peer, or this one
  HostTime at;
  std::int64_t by_ns = 0;
};

/// The state of a peer at a time.
struct PeerState {
  std::string host;
  std::uint64_t boot = 0;
  /// The peer's clock less the one of this host; std::nullopt: unknown.
  std::optional<realtime::OffsetInterval> offset;
  std::optional<realtime::DriftInterval> drift;
  std::optional<std::int64_t> age_ns;  ///< since the older one of the newest bounds
  std::uint64_t received = 0;          ///< pings
  std::uint64_t lost = 0;              ///< pings, by the gaps in their numbers; also overtaken ones
  std::uint64_t steps = 0;             ///< how often a clock was set, or bounds contradicted
  bool is_silent = false;
};

/// The exchange of pings of one process. Received messages are not trusted. Not thread-safe.
class Exchange {
 public:
  static constexpr std::size_t kMostPeers = 64;
  static constexpr std::size_t kMostSessions = 8;  ///< of a peer

  explicit Exchange(ExchangeOptions options) : options_(std::move(options)) {}

  /// Returns the next ping. Send it at once: `now` is the time at which it is sent, or earlier.
  rclrt_msgs::msg::ClockPing next_ping(const HostTime& now);

  /// Takes a ping that was received at `now`, or earlier.
  void take(const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);

  /// Returns the peers at `now`, in the order of their names.
  std::vector<PeerState> peers(const HostTime& now);

  /// Returns the interval of a peer after each of its pings since the last call.
  std::vector<rclrt_msgs::msg::ClockInterval> take_intervals() {
    return std::exchange(intervals_, {});
  }

  /// Returns the events since the last call.
  std::vector<Event> take_events();

 private:
  struct Session {
    std::uint64_t sequence = 0;                          // of its newest ping
    std::uint64_t clock_sets = 0;                        // as of that ping
    std::int64_t heard_at_ns = 0;                        // CLOCK_MONOTONIC_RAW, as all times here
    std::optional<rclrt_msgs::msg::ClockAnswer> answer;  // until the next ping
  };
  struct Peer {
    realtime::ClockOffset raw_offset;
    std::map<std::uint64_t, Session> sessions;
    std::optional<std::uint64_t> counted;  // the session of the counters below
    /// CLOCK_REALTIME - CLOCK_MONOTONIC_RAW of the peer, as of its newest ping.
    std::optional<realtime::OffsetInterval> shift;
    std::int64_t shift_at_ns = 0;  // by its CLOCK_MONOTONIC_RAW
    std::optional<double> slew;    // of its clock between its last two pings
    std::int64_t heard_at_ns = 0;
    std::int64_t silent_after_ns = 0;
    std::optional<std::int64_t> newest_low_ns;  // since the interval began
    std::optional<std::int64_t> newest_high_ns;
    std::uint64_t received = 0;
    std::uint64_t lost = 0;
    std::uint64_t sets = 0;
    std::uint64_t epoch = 0;  // counts sets and contradictions
    bool is_silent = false;
  };
  struct Sent {
    std::uint64_t sequence = 0;
    HostTime at;
  };
  using Key = std::pair<std::string, std::uint64_t>;  // name and boot

  void note(EventKind kind, const std::string& host, const HostTime& at, std::int64_t by_ns = 0);
  void check_own_clock(const HostTime& now);
  Peer* find_peer(const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);
  Session* find_session(Peer& peer, const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);
  bool is_counted(Peer& peer, const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);
  void count(Peer& peer, Session& session, const rclrt_msgs::msg::ClockPing& ping,
             const HostTime& now);
  void take_shift(Peer& peer, const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);
  void add_bounds(Peer& peer, const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);
  void note_interval(const Peer& peer, const std::optional<realtime::OffsetInterval>& before,
                     const rclrt_msgs::msg::ClockPing& ping, const HostTime& now);
  static std::optional<realtime::OffsetInterval> offset_of(const Peer& peer, const HostTime& now);

  const ExchangeOptions options_;
  std::map<Key, Peer> peers_;
  std::array<Sent, 256> sent_{};  // the newest pings, by their number
  std::uint64_t sequence_ = 0;
  std::optional<HostTime> latest_;
  std::vector<Event> events_;
  std::vector<rclrt_msgs::msg::ClockInterval> intervals_;
  std::uint64_t lost_events_ = 0;
  bool is_full_ = false;
};

}  // namespace rclrt::clock
