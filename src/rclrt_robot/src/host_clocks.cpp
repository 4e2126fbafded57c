// SPDX-License-Identifier: Apache-2.0
#include "host_clocks.hpp"

#include <algorithm>

namespace rclrt_robot {

void HostClocks::take(const rclrt_msgs::msg::ClockInterval& report) {
  if (report.boot != boot_) {
    return;
  }
  const std::pair<std::string, std::string> key(report.host, report.peer);
  if (!clocks_.contains(key) && clocks_.size() == kMostPeers) {
    return;
  }
  observers_.insert(report.host);
  clocks_[key].add({.session = report.session,
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
  const std::string& observer = is_alone ? *observers_.begin() : host_;
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
