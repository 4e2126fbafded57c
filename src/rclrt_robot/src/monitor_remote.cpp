// SPDX-License-Identifier: Apache-2.0
// Statuses of callbacks with data that another host stamps.
#include <utility>

#include "monitor.hpp"
#include "rclrt/realtime/boot_number.hpp"
#include "rclrt/realtime/clock.hpp"
#include "status_values.hpp"

namespace rclrt_robot {

using rclrt_msgs::msg::ClockInterval;

namespace {

constexpr int kMostReports = 10'000;  // at once, however fast they come

/// Returns "12.100 to 12.700".
std::string range(std::int64_t low_ns, std::int64_t high_ns) {
  return milliseconds(low_ns) + " to " + milliseconds(high_ns);
}

std::string number(std::uint64_t count) { return std::to_string(count); }

}  // namespace

/// Takes the reports of `rclrt clock` that have come. No executor runs this subscription.
void Monitor::listen_to_clocks() {
  if (!clocks_) {
    clocks_.emplace(hardware_id(), rclrt::realtime::boot_number());
  }
  if (!clock_reports_) {
    clock_reports_ = node_->create_subscription<ClockInterval>(
        kClockTopic, rclcpp::QoS(1000).best_effort(), [](const ClockInterval&) {});
  }
  ClockInterval report;
  rclcpp::MessageInfo info;
  for (int i = 0; i < kMostReports && clock_reports_->take(report, info); ++i) {
    clocks_->take(report, rclrt::realtime::read_clock_ns(CLOCK_MONOTONIC_RAW),
                  publisher_number(info.get_rmw_message_info().publisher_gid));
  }
}

void Monitor::report_remote_ages(const std::vector<CallbackInfo>& callbacks,
                                 std::vector<Status>& statuses) {
  const std::int64_t now_ns = rclrt::realtime::read_clock_ns(CLOCK_MONOTONIC_RAW);
  bool is_listening = false;
  for (auto& [name, each] : remote_) {
    each.is_present = false;
  }
  for (const CallbackInfo& each : callbacks) {
    if (!each.stamped_ends) {
      continue;
    }
    if (!std::exchange(is_listening, true)) {
      listen_to_clocks();
    }
    const std::string name = to_string(each);
    Remote& remote = remote_[name];
    remote.is_present = true;
    rclrt_rclcpp::StampedEnd end;
    while (each.stamped_ends->take(end)) {
      remote.ages.add(end);
    }
    remote.ages.judge(clocks_->of(each.stamped_by), each.max_age.count(), now_ns);
    statuses.push_back(status_of_remote(name, each, remote, now_ns));
    remote.ages.clear_ages();
  }
  std::erase_if(remote_, [](const auto& each) { return !each.second.is_present; });
}

/// Returns a status with a text such as "48 of 50 met, 1 missed, 1 unknown; age p50 12.100
/// to 12.700 ms, at most 40.200 to 40.800 ms".
Monitor::Status Monitor::status_of_remote(const std::string& name, const CallbackInfo& callback,
                                          Remote& remote, std::int64_t now_ns) const {
  const RemoteAges::Counts& now = remote.ages.counts();
  const RemoteAges::Counts before = std::exchange(remote.before, now);
  const std::uint64_t missed = now.missed - before.missed;
  const std::uint64_t unknown = now.unknown - before.unknown;
  const std::uint64_t future = now.future - before.future;
  const std::uint64_t met = now.met - before.met;
  const std::uint64_t all = met + missed + unknown + future;
  const PeerClock& clock = clocks_->of(callback.stamped_by);
  const bool was_set = std::exchange(remote.clock_changes, clock.changes()) != clock.changes();
  const std::uint64_t dropped = callback.stamped_ends->dropped();
  const std::uint64_t dropped_before = std::exchange(remote.dropped, dropped);
  // After set_timing the callback has a new queue.
  const std::uint64_t not_judged = dropped < dropped_before ? dropped : dropped - dropped_before;

  Status status;
  status.name = "rclrt: " + name;
  status.hardware_id = hardware_id();
  std::string text = number(met) + " of " + number(all) + " met, " + number(missed) + " missed, " +
                     number(unknown) + " unknown";
  if (future > 0) {
    text += ", " + number(future) + " stamped in the future";
  }
  const auto p50 = remote.ages.percentile(50);
  const auto most = remote.ages.percentile(100);
  if (p50 && most) {
    text += "; age p50 " + range(p50->low_ns, p50->high_ns) + " ms, at most " +
            range(most->low_ns, most->high_ns) + " ms";
    status.values.push_back(value("p50_low_ms", milliseconds(p50->low_ns)));
    status.values.push_back(value("p50_high_ms", milliseconds(p50->high_ns)));
    status.values.push_back(value("max_low_ms", milliseconds(most->low_ns)));
    status.values.push_back(value("max_high_ms", milliseconds(most->high_ns)));
  }
  constexpr std::int64_t kSilent_ns = 3'000'000'000;
  const PeerClock::Report* const report = clock.latest();
  std::string fault = clocks_->fault();
  if (fault.empty() && report == nullptr) {
    fault = "no clock of " + callback.stamped_by + " is known: start `rclrt clock` there";
  } else if (fault.empty() && now_ns - report->at_ns > kSilent_ns) {
    fault = callback.stamped_by + " is silent for " + milliseconds(now_ns - report->at_ns) + " ms";
  } else if (was_set) {
    fault = "the clock of " + callback.stamped_by + " was set";
  }
  if (!fault.empty()) {
    text += "; " + fault;
  }
  if (not_judged > 0) {
    text += "; " + number(not_judged) + " not judged, too many at once";
  }
  const bool is_to_warn =
      missed > 0 || unknown > 0 || future > 0 || not_judged > 0 || !fault.empty();
  status.level = is_to_warn ? Status::WARN : Status::OK;
  status.message = text;
  status.values.push_back(value("priority", std::to_string(callback.priority)));
  status.values.push_back(value("deadline_ms", milliseconds(callback.max_age.count())));
  status.values.push_back(value("limit_of", "age"));
  status.values.push_back(value("stamped_by", callback.stamped_by));
  if (report != nullptr && report->is_known) {
    const std::int64_t own_ns = rclrt::realtime::read_clock_ns(CLOCK_REALTIME) - now_ns;
    status.values.push_back(value("offset_low_ms", milliseconds(report->low_ns - own_ns)));
    status.values.push_back(value("offset_high_ms", milliseconds(report->high_ns - own_ns)));
  }
  for (const auto& [key, count] : {std::pair("released", callback.counters.released),
                                   {"completed", callback.counters.completed},
                                   {"dropped", callback.counters.dropped},
                                   {"met", now.met},
                                   {"missed", now.missed},
                                   {"unknown", now.unknown},
                                   {"future", now.future}}) {
    status.values.push_back(value(key, number(count)));
  }
  return status;
}

}  // namespace rclrt_robot
