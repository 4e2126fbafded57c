// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <algorithm>
#include <cmath>

#include "identity.hpp"
#include "rclrt/realtime/slewed_clock.hpp"

namespace rclrt::clock {

using rclrt_msgs::msg::ClockAnswer;
using rclrt_msgs::msg::ClockPing;
using realtime::OffsetInterval;
using Added = realtime::ClockOffset::Added;

namespace {

constexpr std::size_t kMostEvents = 1'000;
constexpr std::uint64_t kMostLost = 1'000'000;  // in one gap
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLeastSilence_ns = 3 * kSecond;
constexpr std::int64_t kMostPeriod_ns = 60 * kSecond;
constexpr double kMostSlew = 0.2;  // chrony slews by up to 83 333 ppm
constexpr std::int64_t kLatest_ns = std::int64_t{1} << 62;
__extension__ using Wide = __int128;

std::int64_t clamp(Wide time_ns) {
  return static_cast<std::int64_t>(std::clamp<Wide>(time_ns, -kLatest_ns, kLatest_ns));
}

bool is_time(std::int64_t time_ns) { return time_ns >= 0 && time_ns <= kLatest_ns; }

bool is_valid(const ClockPing& ping) {
  return is_host_name(ping.host) && ping.sequence > 0 && is_time(ping.raw_ns) &&
         is_time(ping.realtime_ns) && ping.reading_ns >= 0 && ping.reading_ns <= kSecond;
}

std::int64_t silent_after(const ClockPing& ping) {
  return std::max(kLeastSilence_ns,
                  10 * std::clamp<std::int64_t>(ping.period_ns, 0, kMostPeriod_ns));
}

}  // namespace

void Exchange::note(EventKind kind, const std::string& host, const HostTime& at,
                    std::int64_t by_ns) {
  if (events_.size() < kMostEvents) {
    events_.push_back({kind, host, at, by_ns});
  } else {
    ++lost_events_;
  }
}

std::vector<Event> Exchange::take_events() {
  std::vector<Event> result = std::exchange(events_, {});
  if (const auto lost = static_cast<std::int64_t>(std::exchange(lost_events_, 0)); lost > 0) {
    result.push_back({EventKind::kLostEvents, options_.host, result.back().at, lost});
  }
  return result;
}

/// Reports that the clock of this host was set. Bounds of raw clocks stay.
void Exchange::check_own_clock(const HostTime& now) {
  if (latest_ && latest_->sets != now.sets) {
    const std::int64_t by_ns =
        (now.realtime_ns - latest_->realtime_ns) - (now.monotonic_ns - latest_->monotonic_ns);
    note(EventKind::kClockSet, options_.host, now, by_ns);
    for (auto& [key, peer] : peers_) {
      ++peer.sets;
    }
  }
  latest_ = now;
}

ClockPing Exchange::next_ping(const HostTime& now) {
  check_own_clock(now);
  ClockPing ping;
  ping.host = options_.host;
  ping.boot = options_.boot;
  ping.session = options_.session;
  ping.sequence = ++sequence_;
  ping.period_ns = options_.period_ns;
  ping.is_test = options_.is_test;
  ping.clock_sets = now.sets;
  ping.raw_ns = now.raw_ns;
  ping.realtime_ns = now.realtime_ns;
  ping.reading_ns = now.reading_ns;
  for (auto& [key, peer] : peers_) {
    for (auto& [number, session] : peer.sessions) {
      if (session.answer) {
        ping.answers.push_back(*session.answer);
        session.answer.reset();
      }
    }
  }
  sent_[sequence_ % sent_.size()] = {sequence_, now};
  return ping;
}

Exchange::Peer* Exchange::find_peer(const ClockPing& ping, const HostTime& now) {
  const Key key(ping.host, ping.boot);
  if (const auto found = peers_.find(key); found != peers_.end()) {
    return &found->second;
  }
  if (peers_.size() == kMostPeers) {
    const auto oldest = std::ranges::min_element(
        peers_, {}, [](const auto& each) { return each.second.heard_at_ns; });
    if (!oldest->second.is_silent) {
      if (!std::exchange(is_full_, true)) {
        note(EventKind::kTooMany, ping.host, now);
      }
      return nullptr;
    }
    note(EventKind::kForgotten, oldest->first.first, now);
    peers_.erase(oldest);
    is_full_ = false;
  }
  note(EventKind::kAppeared, ping.host, now);
  if (ping.host == options_.host) {
    note(EventKind::kSameName, ping.host, now);
  }
  if (ping.is_test) {
    note(EventKind::kTestClock, ping.host, now);
  }
  const auto added =
      peers_.emplace(key, Peer{.raw_offset = realtime::ClockOffset(options_.host_drift_ppm)});
  return &added.first->second;
}

/// Returns nullptr if too many sessions of the host send pings.
Exchange::Session* Exchange::find_session(Peer& peer, const ClockPing& ping, const HostTime& now) {
  if (!peer.sessions.contains(ping.session) && peer.sessions.size() == kMostSessions) {
    const auto oldest = std::ranges::min_element(
        peer.sessions, {}, [](const auto& each) { return each.second.heard_at_ns; });
    if (now.raw_ns - oldest->second.heard_at_ns < silent_after(ping)) {
      if (!std::exchange(is_full_, true)) {
        note(EventKind::kTooMany, ping.host, now);
      }
      return nullptr;
    }
    peer.sessions.erase(oldest);
  }
  return &peer.sessions[ping.session];
}

/// Returns whether pings of this session count. A host may have several processes that send pings;
/// the bounds of all are used, and the pings and events of one are counted.
bool Exchange::is_counted(Peer& peer, const ClockPing& ping, const HostTime& now) {
  if (peer.counted && *peer.counted != ping.session) {
    const auto found = peer.sessions.find(*peer.counted);
    if (found != peer.sessions.end() &&
        now.raw_ns - found->second.heard_at_ns < silent_after(ping)) {
      return false;
    }
    ++peer.epoch;  // the clock may have been set between the two
    note(EventKind::kRestarted, ping.host, now);
  }
  peer.counted = ping.session;
  return true;
}

void Exchange::count(Peer& peer, Session& session, const ClockPing& ping, const HostTime& now) {
  const bool is_first = session.sequence == 0 || ping.sequence < session.sequence;
  ++peer.received;
  if (is_first) {
    return;
  }
  peer.lost += std::min(ping.sequence - session.sequence - 1, kMostLost);
  if (session.clock_sets != ping.clock_sets) {
    ++peer.sets;
    ++peer.epoch;
    note(EventKind::kPeerClockSet, ping.host, now);
  }
}

void Exchange::take(const ClockPing& ping, const HostTime& now) {
  const bool is_own = ping.host == options_.host && ping.boot == options_.boot;
  check_own_clock(now);
  if (is_own || !is_valid(ping)) {
    return;
  }
  Peer* const peer = find_peer(ping, now);
  Session* const session = peer == nullptr ? nullptr : find_session(*peer, ping, now);
  if (session == nullptr) {
    return;
  }
  if (ping.sequence <= session->sequence && session->sequence - ping.sequence < kMostLost) {
    return;  // repeated, or overtaken by a later one
  }
  const bool counts = is_counted(*peer, ping, now);
  if (counts) {
    count(*peer, *session, ping, now);
  }
  session->sequence = ping.sequence;
  session->clock_sets = ping.clock_sets;
  session->heard_at_ns = now.raw_ns;
  session->answer.emplace();
  session->answer->session = ping.session;
  session->answer->sequence = ping.sequence;
  session->answer->received_ns = now.raw_ns;
  if (std::exchange(peer->is_silent, false)) {
    note(EventKind::kBack, ping.host, now);
  }
  peer->heard_at_ns = now.raw_ns;
  peer->silent_after_ns = silent_after(ping);
  add_bounds(*peer, ping, now);
  take_shift(*peer, ping, now);
}

/// Takes the CLOCK_REALTIME of the peer from its newest ping, of whichever of its processes.
void Exchange::take_shift(Peer& peer, const ClockPing& ping, const HostTime& now) {
  const std::optional<OffsetInterval> before = peer.shift;
  const std::int64_t since_ns = ping.raw_ns - peer.shift_at_ns;
  if (before && since_ns <= 0 && since_ns > -kSecond) {
    return;  // of another process, and older
  }
  peer.shift = OffsetInterval{ping.realtime_ns - ping.raw_ns - ping.reading_ns,
                              ping.realtime_ns - ping.raw_ns};
  peer.shift_at_ns = ping.raw_ns;
  if (before && since_ns > 0) {
    const auto changed_ns = static_cast<double>(Wide{peer.shift->high_ns} - before->high_ns);
    const double slew = std::abs(changed_ns) / static_cast<double>(since_ns);
    peer.slew = slew < kMostSlew ? slew : 0;  // otherwise the clock was set
  }
  note_interval(peer, before, ping, now);
}

void Exchange::add_bounds(Peer& peer, const ClockPing& ping, const HostTime& now) {
  bool is_step = false;
  // The answer first: its bound is older.
  const auto answer = std::ranges::find(ping.answers, options_.session, &ClockAnswer::session);
  if (answer != ping.answers.end() && answer->sequence > 0) {
    const Sent& sent = sent_[answer->sequence % sent_.size()];
    const Added added =
        sent.sequence == answer->sequence
            ? peer.raw_offset.add_answered(sent.at.raw_ns, answer->received_ns, sent.at.raw_ns)
            : Added::kImpossible;
    if (added != Added::kImpossible) {
      peer.newest_high_ns = sent.at.raw_ns;
    }
    if (added == Added::kStep) {
      peer.newest_low_ns.reset();
      is_step = true;
    }
  }
  const Added added = peer.raw_offset.add_received(ping.raw_ns, now.raw_ns, now.raw_ns);
  peer.newest_low_ns = now.raw_ns;
  if (added == Added::kStep) {
    peer.newest_high_ns.reset();
  }
  if (is_step || added == Added::kStep) {
    ++peer.epoch;
    note(EventKind::kStep, ping.host, now);
  }
}

/// Notes the interval for stamps of the peer between its last two pings. The peer's clock may have
/// been slewed between them, so the interval has the shifts of both.
void Exchange::note_interval(const Peer& peer, const std::optional<OffsetInterval>& before,
                             const ClockPing& ping, const HostTime& now) {
  if (intervals_.size() >= kMostEvents) {
    return;  // not taken
  }
  rclrt_msgs::msg::ClockInterval& interval = intervals_.emplace_back();
  interval.host = options_.host;
  interval.boot = options_.boot;
  interval.session = options_.session;
  interval.peer = ping.host;
  // Two machines with one name, or one before and after its boot, have different clocks.
  interval.epoch = peer.epoch + ping.boot;
  interval.peer_sent_ns = ping.realtime_ns;
  interval.at_ns = now.raw_ns;
  interval.drift_ppb = peer.raw_offset.drift_ppb();
  const auto raw = peer.raw_offset.at(now.raw_ns);
  if (raw && before && peer.shift) {
    interval.is_known = true;
    interval.low_ns = clamp(Wide{raw->low_ns} + std::min(before->low_ns, peer.shift->low_ns));
    interval.high_ns = clamp(Wide{raw->high_ns} + std::max(before->high_ns, peer.shift->high_ns));
  }
}

/// Returns CLOCK_REALTIME of the peer, as of its newest ping, less that of this host.
std::optional<OffsetInterval> Exchange::offset_of(const Peer& peer, const HostTime& now) {
  const auto raw = peer.raw_offset.at(now.raw_ns);
  if (!raw || !peer.shift || !peer.slew) {
    return std::nullopt;
  }
  const std::int64_t own_ns = now.realtime_ns - now.raw_ns;
  return realtime::offset_of_slewed(*raw, *peer.shift, {own_ns - now.reading_ns, own_ns},
                                    *peer.slew, now.raw_ns - peer.heard_at_ns);
}

std::vector<PeerState> Exchange::peers(const HostTime& now) {
  check_own_clock(now);
  std::vector<PeerState> result;
  for (auto& [key, peer] : peers_) {
    if (!peer.is_silent && now.raw_ns - peer.heard_at_ns >= peer.silent_after_ns) {
      peer.is_silent = true;
      note(EventKind::kSilent, key.first, now);
    }
    PeerState& state = result.emplace_back();
    state.host = key.first;
    state.boot = key.second;
    state.offset = offset_of(peer, now);
    state.drift = peer.raw_offset.drift(now.raw_ns);
    if (peer.newest_low_ns && peer.newest_high_ns) {
      state.age_ns = now.raw_ns - std::min(*peer.newest_low_ns, *peer.newest_high_ns);
    }
    state.received = peer.received;
    state.lost = peer.lost;
    state.steps = peer.raw_offset.steps() + peer.sets;
    state.is_silent = peer.is_silent;
  }
  return result;
}

}  // namespace rclrt::clock
