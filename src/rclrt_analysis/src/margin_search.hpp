// SPDX-License-Identifier: Apache-2.0
// The search for the last value of a time with which all deadlines hold.
#pragma once

#include <cstddef>
#include <optional>

#include "bounds/deadline_trials.hpp"
#include "rclrt/analysis/sensitivity.hpp"

namespace rclrt::analysis::detail {

/// The deadlines of a system as functions of one time.
class TimeTrials {
 public:
  TimeTrials() = default;
  TimeTrials(const TimeTrials&) = delete;
  TimeTrials& operator=(const TimeTrials&) = delete;
  virtual ~TimeTrials() = default;

  /// Returns a number of a deadline that is not proved with this value; nullopt: all are.
  virtual std::optional<std::size_t> first_missed(Ticks value, Look look) = 0;

  /// Returns by how much the bound may grow until this deadline is missed; less than 0 if it is.
  virtual Ticks room(Ticks value, std::size_t deadline, Look look) = 0;

  /// Returns whether Look::kQuick takes less time than Look::kFull.
  virtual bool has_quick_look() const = 0;

  /// Returns whether one analysis of the whole system proves all deadlines with this value.
  virtual bool proved(Ticks value) = 0;

  /// Returns whether looks with far fewer steps prove all deadlines: then proved() does, too.
  virtual bool surely_holds(Ticks value) = 0;

  /// Returns whether looks with far more steps miss a deadline: then proved() does, too.
  virtual bool surely_misses(Ticks value) = 0;
};

/// The values of a time that a search tries: from `harmless` to `harmful`, which may be less or
/// greater.
struct TimeRange {
  Ticks harmless{};
  Ticks stated{};  ///< the value in the system, where the search begins
  Ticks harmful{};
};

/// Searches margins of one system after another. Most values are tried only with the deadline that
/// has been missed last; where its limit is found, all of them must hold. Between a value that
/// holds and one that does not, the next value follows from the room that both leave (regula
/// falsi), as long as that narrows the search more than halving it. All of this saves time only: at
/// a limit an analysis of the whole system proves all deadlines, and at the next tick it does not.
class MarginSearch {
 public:
  /// `stated_holds`: TimeTrials::proved() with the stated values.
  explicit MarginSearch(bool stated_holds) : stated_holds_(stated_holds) {}

  Margin margin(const TimeRange& range, TimeTrials& trials);

 private:
  /// A value, and the room that the deadline under study has with it.
  struct Point {
    Ticks value{};
    Ticks room{};
  };

  bool all_hold(Ticks value, Look look);
  bool holds(Ticks value);
  Point point(Ticks value);
  Ticks last_in_stage(Ticks good, Look look);
  Ticks last_of_deadline(Ticks good, std::optional<Ticks>& bad);
  Point grow(Point good, std::optional<Ticks>& bad);
  Ticks narrow(Point good, Point bad);
  Ticks searched(Ticks start);
  Ticks settled(Ticks start, Ticks limit);
  bool is_monotone(Ticks limit);

  bool stated_holds_;
  std::optional<std::size_t> critical_;  // the deadline that was missed last
  TimeTrials* trials_{};
  TimeRange range_;
  Ticks direction_{};  // of harm
  Look look_{};
};

}  // namespace rclrt::analysis::detail
