// SPDX-License-Identifier: Apache-2.0
// The age of data that another host has stamped, as an interval, and the verdict on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "rclrt_rclcpp/stamped_ends.hpp"

namespace rclrt_robot {

/// The clock of a peer, as `rclrt clock` of this host reports it. Not thread-safe.
class PeerClock {
 public:
  /// The content of an rclrt_msgs/msg/ClockInterval.
  struct Report {
    std::uint64_t session = 0;
    std::uint64_t epoch = 0;
    std::int64_t peer_sent_ns = 0;
    std::int64_t at_ns = 0;
    bool is_known = false;
    std::int64_t low_ns = 0;
    std::int64_t high_ns = 0;
    std::int64_t drift_ppb = 0;
  };

  struct Around {
    Report before;
    Report after;
  };

  /// Takes a report. Reports of another process are ignored while those of the first come.
  void add(const Report& report);

  /// Returns the newest report; nullptr: there is none.
  const Report* latest() const noexcept { return reports_.empty() ? nullptr : &reports_.back(); }
  /// Returns the reports of the pings that the peer sent before and after a time of its clock.
  /// std::nullopt: one of them is missing.
  std::optional<Around> around(std::int64_t stamp_ns) const noexcept;
  /// Returns the time of CLOCK_MONOTONIC_RAW since which the peer's clock was not set, as far as
  /// reports say.
  std::int64_t since_ns() const noexcept { return since_ns_; }
  /// Returns how often a clock was set, or may have been.
  std::uint64_t changes() const noexcept { return changes_; }

 private:
  static constexpr std::size_t kMostReports = 2'000;

  std::deque<Report> reports_;  // since the peer's clock was set, the oldest first
  std::int64_t since_ns_ = 0;
  std::uint64_t changes_ = 0;
};

/// The verdict on the age of an instance's data.
enum class AgeVerdict : std::uint8_t {
  kPending,  ///< the next report of the clock decides
  kMet,      ///< the whole interval is within the limit
  kMissed,   ///< the whole interval is above the limit
  kUnknown,  ///< the interval contains the limit, or there is none
  kFuture,   ///< the stamp is from the future, whatever the offset is
};

/// A verdict, and the age if it is known.
struct JudgedAge {
  AgeVerdict verdict = AgeVerdict::kPending;
  std::int64_t low_ns = 0;  ///< not negative
  std::int64_t high_ns = 0;
  bool is_known = false;
};

/// Judges the age of an instance's data at the end of the instance. Pure. The verdict is final only
/// after a report of a ping that the peer sent after the end: up to there, its clock was not set.
/// An instance that ended within `limit_ns`, or a second, of a set clock is unknown; so it is
/// assumed that no message is on its way for longer than that. `now_ns`: CLOCK_MONOTONIC_RAW.
JudgedAge judge_age(const rclrt_rclcpp::StampedEnd& end, const PeerClock& clock,
                    std::int64_t limit_ns, std::int64_t now_ns);

/// Bounds of an age in nanoseconds.
struct AgeBounds {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
};

/// The ages of a subscription's data. Not thread-safe.
class RemoteAges {
 public:
  static constexpr std::size_t kMostPending = 20'000;
  static constexpr std::size_t kMostAges = 100'000;  ///< between two calls of clear_ages

  /// Counts since the begin.
  struct Counts {
    std::uint64_t met = 0;
    std::uint64_t missed = 0;
    std::uint64_t unknown = 0;
    std::uint64_t future = 0;
  };

  /// Adds an ended instance. If too many wait for a verdict, the oldest one is unknown.
  void add(const rclrt_rclcpp::StampedEnd& end);
  /// Judges the instances that wait for it.
  void judge(const PeerClock& clock, std::int64_t limit_ns, std::int64_t now_ns);

  const Counts& counts() const noexcept { return counts_; }
  std::size_t pending() const noexcept { return pending_.size(); }
  /// Returns between which bounds a percentile of the known ages since `clear_ages` is. As each age
  /// is between its bounds, the percentile of all is between those of the bounds. std::nullopt: no
  /// age is known.
  std::optional<AgeBounds> percentile(double percent) const;
  void clear_ages();

 private:
  std::deque<rclrt_rclcpp::StampedEnd> pending_;
  Counts counts_;
  std::vector<std::int64_t> low_ns_;  // of the known ages
  std::vector<std::int64_t> high_ns_;
};

}  // namespace rclrt_robot
