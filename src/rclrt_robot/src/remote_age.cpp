// SPDX-License-Identifier: Apache-2.0
#include "remote_age.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_robot {

using rclrt::realtime::kNanosecondsPerSecond;
using rclrt_rclcpp::StampedEnd;

namespace {

constexpr std::int64_t kSilent_ns = 3 * kNanosecondsPerSecond;  // as `rclrt clock`
constexpr std::int64_t kLatest_ns = std::int64_t{1} << 62;      // sums of two do not overflow
constexpr std::int64_t kMostDriftPpb = 400'000'000;
constexpr std::int64_t kBillion = 1'000'000'000;
__extension__ using Wide = __int128;

/// Returns by how much an offset may have changed in a time. Rounds up.
Wide growth(Wide time_ns, std::int64_t drift_ppb) {
  return (time_ns * drift_ppb + kBillion - 1) / kBillion;
}

std::int64_t clamp(Wide time_ns) {
  return static_cast<std::int64_t>(std::clamp<Wide>(time_ns, -kLatest_ns, kLatest_ns));
}

bool is_plausible(const PeerClock::Report& report) {
  return report.drift_ppb >= 0 && report.drift_ppb <= kMostDriftPpb &&
         report.low_ns <= report.high_ns && report.at_ns >= 0 && report.at_ns <= kLatest_ns;
}

}  // namespace

void PeerClock::add(const Report& report) {
  if (!is_plausible(report)) {
    return;
  }
  if (const Report* const before = latest()) {
    const bool is_other = report.session != before->session;
    if (report.at_ns < before->at_ns || (is_other && report.at_ns - before->at_ns < kSilent_ns)) {
      return;
    }
    // Whether the clock was set is reported with the next ping of one process of the peer. Another
    // one's ping shows it earlier if the clock was set back.
    if (is_other || report.epoch != before->epoch || report.peer_sent_ns < before->peer_sent_ns) {
      ++changes_;
      reports_.clear();
    } else if (reports_.size() == kMostReports) {
      reports_.pop_front();
    }
  }
  if (reports_.empty()) {
    since_ns_ = report.at_ns;
  }
  reports_.push_back(report);
}

std::optional<PeerClock::Around> PeerClock::around(std::int64_t stamp_ns) const noexcept {
  const auto found = std::ranges::lower_bound(reports_, stamp_ns, {}, &Report::peer_sent_ns);
  if (found == reports_.end() || found == reports_.begin()) {
    return std::nullopt;
  }
  return Around{*std::prev(found), *found};
}

namespace {

/// Returns the bounds of the age, without a limit at 0. The interval is the peer's CLOCK_REALTIME
/// less CLOCK_MONOTONIC_RAW here, so that no clock of this host but the latter counts.
std::pair<Wide, Wide> bounds_of(const StampedEnd& end, const PeerClock::Report& report) {
  const Wide naive_ns = Wide{end.end_ns} - end.stamp_ns;
  const Wide between_ns = Wide{end.end_ns} - report.at_ns;
  const Wide since_report_ns = between_ns < 0 ? -between_ns : between_ns;
  const Wide most_ns = naive_ns + report.high_ns + growth(since_report_ns, report.drift_ppb);
  // The offset counts at the time of the stamp. With the drift until then, the age is at most
  // most / (1 - drift), which is less than twice as much.
  const Wide growth_ns = growth(since_report_ns + 2 * std::max<Wide>(most_ns, 0), report.drift_ppb);
  return {naive_ns + report.low_ns - growth_ns, naive_ns + report.high_ns + growth_ns};
}

/// Returns the bounds by the reports of the pings before and after the stamp. The second alone has
/// the rate of a slewed clock between the last two pings only, and a report between may be lost.
std::pair<Wide, Wide> bounds_of(const StampedEnd& end, const PeerClock::Around& reports) {
  const auto before = bounds_of(end, reports.before);
  const auto after = bounds_of(end, reports.after);
  return {std::min(before.first, after.first), std::max(before.second, after.second)};
}

}  // namespace

JudgedAge judge_age(const StampedEnd& end, const PeerClock& clock, std::int64_t limit_ns,
                    std::int64_t now_ns) {
  JudgedAge result;
  const PeerClock::Report* const latest = clock.latest();
  const AgeVerdict until_known =
      now_ns - end.end_ns > kSilent_ns ? AgeVerdict::kUnknown : AgeVerdict::kPending;
  if (end.stamp_ns <= 0 || end.stamp_ns > kLatest_ns) {
    result.verdict = AgeVerdict::kUnknown;
    return result;
  }
  const std::int64_t guard_ns = std::max(limit_ns, kNanosecondsPerSecond);
  if (latest != nullptr && end.end_ns - guard_ns < clock.since_ns()) {
    result.verdict = AgeVerdict::kUnknown;  // stamped before a clock was set, for all that is known
    return result;
  }
  // A clock that was set back stamps as if before earlier pings. So only a ping that was sent after
  // the end of the instance shows, by its epoch, that the clock had not been set before the stamp.
  const bool is_settled = latest != nullptr && latest->is_known &&
                          Wide{latest->peer_sent_ns} - latest->high_ns >= end.end_ns;
  const std::optional<PeerClock::Around> reports = clock.around(end.stamp_ns);
  if (!is_settled || !reports || !reports->before.is_known || !reports->after.is_known) {
    const bool is_from_future = is_settled && bounds_of(end, *latest).second < 0;
    result.verdict = is_from_future ? AgeVerdict::kFuture : until_known;
    return result;
  }
  const auto [low_ns, high_ns] = bounds_of(end, *reports);
  if (high_ns < 0) {
    result.verdict = AgeVerdict::kFuture;
    return result;
  }
  result.is_known = true;
  result.high_ns = clamp(high_ns);
  result.low_ns = clamp(std::max<Wide>(low_ns, 0));
  result.verdict = result.high_ns <= limit_ns ? AgeVerdict::kMet
                   : result.low_ns > limit_ns ? AgeVerdict::kMissed
                                              : AgeVerdict::kUnknown;
  return result;
}

void RemoteAges::add(const StampedEnd& end) {
  if (pending_.size() == kMostPending) {
    pending_.pop_front();
    ++counts_.unknown;
  }
  pending_.push_back(end);
}

void RemoteAges::judge(const PeerClock& clock, std::int64_t limit_ns, std::int64_t now_ns) {
  std::deque<StampedEnd> rest;
  for (const StampedEnd& each : pending_) {
    const JudgedAge judged = judge_age(each, clock, limit_ns, now_ns);
    if (judged.is_known && low_ns_.size() < kMostAges) {
      low_ns_.push_back(judged.low_ns);
      high_ns_.push_back(judged.high_ns);
    }
    switch (judged.verdict) {
      case AgeVerdict::kPending:
        rest.push_back(each);
        break;
      case AgeVerdict::kMet:
        ++counts_.met;
        break;
      case AgeVerdict::kMissed:
        ++counts_.missed;
        break;
      case AgeVerdict::kUnknown:
        ++counts_.unknown;
        break;
      case AgeVerdict::kFuture:
        ++counts_.future;
        break;
    }
  }
  pending_ = std::move(rest);
}

std::optional<AgeBounds> RemoteAges::percentile(double percent) const {
  if (low_ns_.empty()) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(low_ns_.size());
  const auto rank =
      static_cast<std::size_t>(std::clamp(std::ceil(percent / 100 * count), 1.0, count));
  const auto nearest = [rank](std::vector<std::int64_t> times) {
    const auto place = times.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::ranges::nth_element(times, place);
    return *place;
  };
  return AgeBounds{nearest(low_ns_), nearest(high_ns_)};
}

void RemoteAges::clear_ages() {
  low_ns_.clear();
  high_ns_.clear();
}

}  // namespace rclrt_robot
