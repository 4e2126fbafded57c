// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <algorithm>

#include "identity.hpp"

namespace rclrt::clock {

using rclrt_msgs::msg::ClockAnswer;
using rclrt_msgs::msg::ClockPing;
using Added = realtime::ClockOffset::Added;

namespace {

constexpr std::size_t kMostEvents = 1'000;
constexpr std::uint64_t kMostLost = 1'000'000;  // in one gap

}  // namespace

void Exchange::note(EventKind kind, const std::string& host, const HostTime& at,
                    std::int64_t by_ns) {
  if (events_.size() < kMostEvents) {
    events_.push_back({kind, host, at, by_ns});
  }
}

void Exchange::restart(Peer& peer) {
  peer.offset.restart();
  peer.newest_low_ns.reset();
  peer.newest_high_ns.reset();
}

/// Forgets everything that was measured with the clock of this host before it was set.
void Exchange::check_own_clock(const HostTime& now) {
  if (latest_ && latest_->sets != now.sets) {
    const std::int64_t by_ns =
        (now.realtime_ns - latest_->realtime_ns) - (now.monotonic_ns - latest_->monotonic_ns);
    note(EventKind::kClockSet, options_.host, now, by_ns);
    for (auto& [key, peer] : peers_) {
      restart(peer);
      ++peer.sets;
      for (auto& [number, session] : peer.sessions) {
        session.answer.reset();
      }
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
  ping.clock_sets = now.sets;
  ping.sent_ns = now.realtime_ns;
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
    peers_.erase(oldest);
  }
  note(EventKind::kAppeared, ping.host, now);
  if (ping.host == options_.host) {
    note(EventKind::kSameName, ping.host, now);
  }
  const auto added =
      peers_.emplace(key, Peer{.offset = realtime::ClockOffset(options_.host_drift_ppm)});
  return &added.first->second;
}

Exchange::Session& Exchange::find_session(Peer& peer, std::uint64_t session) {
  if (!peer.sessions.contains(session) && peer.sessions.size() == kMostSessions) {
    peer.sessions.erase(std::ranges::min_element(
        peer.sessions, {}, [](const auto& each) { return each.second.heard_at_ns; }));
  }
  return peer.sessions[session];
}

/// Returns whether pings of this session make the interval. A host may have several processes that
/// send pings. Only one is used: another one may have seen later that the host's clock was set.
bool Exchange::follows(Peer& peer, const ClockPing& ping, const HostTime& now) {
  if (peer.followed == ping.session) {
    return true;
  }
  if (peer.followed) {
    const auto found = peer.sessions.find(*peer.followed);
    if (found != peer.sessions.end() &&
        now.monotonic_ns - found->second.heard_at_ns < options_.silent_after_ns) {
      return false;
    }
    restart(peer);
    note(EventKind::kRestarted, ping.host, now);
  }
  peer.followed = ping.session;
  return true;
}

void Exchange::take(const ClockPing& ping, const HostTime& now) {
  const bool is_own = ping.host == options_.host && ping.boot == options_.boot;
  check_own_clock(now);
  if (is_own || !is_host_name(ping.host)) {
    return;
  }
  Peer* const peer = find_peer(ping, now);
  if (peer == nullptr) {
    return;
  }
  Session& session = find_session(*peer, ping.session);
  if (ping.sequence <= session.sequence) {
    return;  // repeated, or overtaken by a later one
  }
  const bool is_first = session.sequence == 0;
  const std::uint64_t gap = ping.sequence - session.sequence - 1;
  const bool was_set = !is_first && session.clock_sets != ping.clock_sets;
  const bool is_followed = follows(*peer, ping, now);
  session.sequence = ping.sequence;
  session.clock_sets = ping.clock_sets;
  session.heard_at_ns = now.monotonic_ns;
  session.answer.emplace();
  session.answer->session = ping.session;
  session.answer->sequence = ping.sequence;
  session.answer->received_ns = now.realtime_ns;
  if (!is_followed) {
    return;
  }
  if (std::exchange(peer->is_silent, false)) {
    note(EventKind::kBack, ping.host, now);
  }
  peer->heard_at_ns = now.monotonic_ns;
  ++peer->received;
  peer->lost += is_first ? 0 : std::min(gap, kMostLost);
  if (was_set) {
    restart(*peer);
    ++peer->sets;
    note(EventKind::kPeerClockSet, ping.host, now);
  }
  add_bounds(*peer, ping, now);
}

void Exchange::add_bounds(Peer& peer, const ClockPing& ping, const HostTime& now) {
  bool is_step = false;
  // The answer first: its bound is older.
  for (const ClockAnswer& answer : ping.answers) {
    const Sent& sent = sent_[answer.sequence % sent_.size()];
    if (answer.session != options_.session || answer.sequence == 0 ||
        sent.sequence != answer.sequence || sent.at.sets != now.sets) {
      continue;
    }
    const Added added =
        peer.offset.add_answered(sent.at.realtime_ns, answer.received_ns, sent.at.monotonic_ns);
    is_step = is_step || added == Added::kStep;
    if (added != Added::kImpossible) {
      peer.newest_high_ns = sent.at.monotonic_ns;
    }
    if (added == Added::kStep) {
      peer.newest_low_ns.reset();
    }
  }
  const Added added = peer.offset.add_received(ping.sent_ns, now.realtime_ns, now.monotonic_ns);
  if (added != Added::kImpossible) {
    peer.newest_low_ns = now.monotonic_ns;
  }
  if (added == Added::kStep) {
    peer.newest_high_ns.reset();
  }
  if (is_step || added == Added::kStep) {
    note(EventKind::kStep, ping.host, now);
  }
}

std::vector<PeerState> Exchange::peers(const HostTime& now) {
  check_own_clock(now);
  std::vector<PeerState> result;
  for (auto& [key, peer] : peers_) {
    if (!peer.is_silent && now.monotonic_ns - peer.heard_at_ns >= options_.silent_after_ns) {
      peer.is_silent = true;
      note(EventKind::kSilent, key.first, now);
    }
    PeerState& state = result.emplace_back();
    state.host = key.first;
    state.boot = key.second;
    state.offset = peer.offset.at(now.monotonic_ns);
    state.drift = peer.offset.drift(now.monotonic_ns);
    if (peer.newest_low_ns && peer.newest_high_ns) {
      state.age_ns = now.monotonic_ns - std::min(*peer.newest_low_ns, *peer.newest_high_ns);
    }
    state.received = peer.received;
    state.lost = peer.lost;
    state.steps = peer.offset.steps() + peer.sets;
    state.is_silent = peer.is_silent;
  }
  return result;
}

}  // namespace rclrt::clock
