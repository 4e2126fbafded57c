// SPDX-License-Identifier: Apache-2.0
#include "host_clocks.hpp"

#include <algorithm>

namespace rclrt_robot {

namespace {

constexpr std::int64_t kForgotten_ns = 60'000'000'000;

}  // namespace

void HostClocks::forget_silent(std::int64_t now_ns) {
  std::erase_if(observers_, [&](const auto& each) { return now_ns - each.second > kForgotten_ns; });
  std::erase_if(clocks_, [&](const auto& each) {
    const PeerClock::Report* const latest = each.second.latest();
    return !observers_.contains(each.first.first) || latest == nullptr ||
           now_ns - latest->at_ns > kForgotten_ns;
  });
}

std::uint64_t publisher_number(const rmw_gid_t& gid) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::uint8_t each : gid.data) {
    hash = (hash ^ each) * 0x100000001b3U;
  }
  return hash;
}

void HostClocks::take(const rclrt_msgs::msg::ClockInterval& report, std::int64_t now_ns,
                      std::uint64_t publisher) {
  if (report.boot != boot_ || report.at_ns < 0 || report.at_ns > now_ns) {
    return;
  }
  const std::pair<std::string, std::string> key(report.host, report.peer);
  const bool is_new = !clocks_.contains(key);
  if (is_new || now_ns - forgot_at_ns_ > kForgotten_ns) {
    forget_silent(now_ns);
    forgot_at_ns_ = now_ns;
  }
  if (is_new && clocks_.size() == kMostPeers) {
    return;
  }
  observers_[report.host] = report.at_ns;
  clocks_[key].add({.session = report.session ^ publisher,
                    .epoch = report.epoch,
                    .peer_sent_ns = report.peer_sent_ns,
                    .at_ns = report.at_ns,
                    .is_known = report.is_known,
                    .low_ns = report.low_ns,
                    .high_ns = report.high_ns,
                    .drift_ppb = report.drift_ppb});
}

const PeerClock& HostClocks::of(const std::string& peer) const {
  static const PeerClock kUnknown;
  const bool is_alone = observers_.size() == 1;
  const std::string& observer = is_alone ? observers_.begin()->first : host_;
  const auto found = clocks_.find({observer, peer});
  return found == clocks_.end() ? kUnknown : found->second;
}

std::string HostClocks::fault() const {
  if (observers_.empty()) {
    return "no `rclrt clock` of this host is heard: start it here and on the other host";
  }
  if (observers_.size() > 1 && !observers_.contains(host_)) {
    return "several `rclrt clock` of this machine are heard, and none is of " + host_ +
           ": start it with --host " + host_;
  }
  return "";
}

}  // namespace rclrt_robot
