// SPDX-License-Identifier: Apache-2.0
#include "report_lines.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace rclrt::clock {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

/// JSON readers keep 53 bits of a number.
std::string hexadecimal(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, number);
  return text.data();
}

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::kAppeared:
      return "appeared";
    case EventKind::kRestarted:
      return "restarted";
    case EventKind::kStep:
      return "step";
    case EventKind::kClockSet:
      return "clock_set";
    case EventKind::kPeerClockSet:
      return "peer_clock_set";
    case EventKind::kSilent:
      return "silent";
    case EventKind::kBack:
      return "back";
    case EventKind::kSameName:
      return "same_name";
    case EventKind::kForgotten:
      return "forgotten";
    case EventKind::kTestClock:
      return "test_clock";
    case EventKind::kTooMany:
      return "too_many";
    case EventKind::kLostEvents:
      break;
  }
  return "lost_events";
}

}  // namespace

std::string start_line(const Settings& settings, const ExchangeOptions& options, bool is_test) {
  const Json line = {{"rclrt_clock", kVersion},
                     {"host", options.host},
                     {"boot", hexadecimal(options.boot)},
                     {"session", hexadecimal(options.session)},
                     {"drift_ppm", options.host_drift_ppm},
                     {"period_ms", static_cast<double>(settings.period.count()) / 1e6},
                     {"topic", settings.topic},
                     {"test_clock", is_test}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string peer_line(const PeerState& peer, const HostTime& now) {
  Json line = {{"peer", peer.host},
               {"boot", hexadecimal(peer.boot)},
               {"realtime_ns", now.realtime_ns},
               {"monotonic_ns", now.monotonic_ns},
               {"low_ns", nullptr},
               {"high_ns", nullptr},
               {"age_ns", peer.age_ns ? Json(*peer.age_ns) : Json(nullptr)},
               {"drift_low_ppm", nullptr},
               {"drift_high_ppm", nullptr},
               {"received", peer.received},
               {"lost", peer.lost},
               {"steps", peer.steps},
               {"silent", peer.is_silent}};
  if (peer.offset) {
    line["low_ns"] = peer.offset->low_ns;
    line["high_ns"] = peer.offset->high_ns;
  }
  if (peer.drift) {
    line["drift_low_ppm"] = peer.drift->low_ppm;
    line["drift_high_ppm"] = peer.drift->high_ppm;
  }
  return line.dump();
}

std::string report_line(std::size_t peers, const HostTime& now) {
  const Json line = {
      {"report", peers}, {"realtime_ns", now.realtime_ns}, {"monotonic_ns", now.monotonic_ns}};
  return line.dump();
}

std::string lost_lines_line(std::uint64_t count, const HostTime& now) {
  const Json line = {{"event", "lost_lines"},
                     {"host", ""},
                     {"realtime_ns", now.realtime_ns},
                     {"monotonic_ns", now.monotonic_ns},
                     {"count", count}};
  return line.dump();
}

std::string event_line(const Event& event) {
  Json line = {{"event", name_of(event.kind)},
               {"host", event.host},
               {"realtime_ns", event.at.realtime_ns},
               {"monotonic_ns", event.at.monotonic_ns}};
  if (event.kind == EventKind::kClockSet) {
    line["by_ns"] = event.by_ns;
  } else if (event.kind == EventKind::kLostEvents) {
    line["count"] = event.by_ns;
  }
  return line.dump();
}

}  // namespace rclrt::clock
