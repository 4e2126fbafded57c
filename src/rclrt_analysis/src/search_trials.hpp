// SPDX-License-Identifier: Apache-2.0
// The offsets, execution times and delays that a search of schedules tries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "later_begins.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

struct Trial {
  std::vector<std::int64_t> offsets_ns;  ///< one per callback; 0 for those that take messages
  int lowest_percent = 100;
  int lowest_delay_percent = 100;
  std::uint64_t seed = 0;
  bool extremes = false;        ///< see CounterExample::extremes
  std::int64_t begin_ns = 0;    ///< see CounterExample::begin_ns
  std::int64_t warm_up_ns = 0;  ///< see CounterExample::warm_up_ns
};

/// How the releases of others meet that of the chain's first callback.
enum class Meeting {
  kJustBefore,  ///< one nanosecond before it, or as near as possible
  kTogether,    ///< at the same time, or as near as possible
  kSome,        ///< at random distances
};

/// A trial that repeats a part of another one, with changes.
struct Part {
  Trial trial;
  std::int64_t length_ns = 0;
};

/// Chooses the trials of a search. Deterministic by the seed. Keeps a reference to the application.
class Trials {
 public:
  Trials(const model::Application& application, std::uint64_t seed, bool delays_vary,
         const LaterBegins& begins);

  /// Returns the offsets that the application states, or zero.
  const std::vector<std::int64_t>& stated_offsets_ns() const { return stated_; }

  /// Returns the timers and events.
  const std::vector<std::size_t>& sources() const { return sources_; }

  std::int64_t period_ns(std::size_t source) const {
    return model::period(application_.callbacks[source]).count();
  }

  /// Returns whether trials may begin later than the application.
  bool begin_later() const { return begins_.possible; }

  /// Returns whether no source has an offset that the search may choose.
  bool are_all_stated() const { return free_.empty(); }

  /// Returns a trial that begins at most some periods before a release of the source `own` that
  /// others meet, and ends some periods after that release, or `after_ns` later. Only if
  /// begin_later().
  Part meeting(std::size_t own, Meeting how, std::int64_t after_ns);

  /// Changes the execution times of a trial: they are random from this percentage of the WCET on.
  Trial at_speed(Trial trial, int lowest_percent);

  /// Returns offsets at which every other timer with a free offset releases one nanosecond before
  /// this one, so that a less urgent callback has just started.
  std::vector<std::int64_t> just_after_the_others(std::size_t own) const;

  /// Returns offsets at which this one has its first release at once, and each other one a period
  /// of its own later, less one nanosecond: messages then wait the longest in synchronisers.
  std::vector<std::int64_t> long_before_the_others(std::size_t own) const;

  /// Returns offsets at which each segment of the cause-effect chain is released one nanosecond
  /// before the value that it reads is stored, if the segment before it runs alone.
  std::vector<std::int64_t> just_before_each_value(const model::CauseEffectChain& chain) const;

  /// Returns a variation of this trial, or a random one; always a random one if it has no offsets.
  Trial variation(Trial trial);

  /// Returns the part of a trial around an instance of the source `own` that was released at
  /// `release_ns` and ended at `end_ns`, with changes of up to two offsets: others may be released
  /// just at that instance's release, or an execution time before it. It begins at the trial's own
  /// begin, or before the release by up to eight of the longest periods, own periods or responses.
  /// Stated offsets stay. The part then begins after whole periods; if it may begin_later(), it
  /// begins anywhere, perhaps at a later time at which the phases of up to two timers are others.
  Part part(Trial trial, std::size_t own, std::int64_t release_ns, std::int64_t end_ns);

  /// Returns a trial with these offsets. Execution times below the WCET are random.
  Trial with(std::vector<std::int64_t> offsets_ns, int lowest_percent, int lowest_delay_percent);

  /// Returns a random number below `count`.
  std::size_t below(std::size_t count) { return random_.next() % count; }

 private:
  bool is_free(std::size_t source) const;
  std::int64_t some_offset(std::size_t source);
  std::int64_t bunch_near(std::size_t source, std::int64_t time_ns);
  std::int64_t offset_near(std::size_t source, std::int64_t now_ns, std::int64_t release_ns);
  std::int64_t some_begin(const Trial& trial, std::size_t own, std::int64_t release_ns,
                          std::int64_t end_ns);
  void draw_times(Trial& trial);
  Part changed(Trial trial, std::int64_t later_ns, std::int64_t release_ns, std::int64_t end_ns);

  // later_trials.cpp
  Part later_part(Trial trial, std::size_t own, std::int64_t release_ns, std::int64_t end_ns);
  std::int64_t some_distance(std::size_t source);
  std::vector<std::size_t> in_some_order(std::span<const std::size_t> first);
  std::int64_t meeting_time(std::size_t own, std::span<const std::int64_t> distances_ns,
                            std::span<const std::size_t> order, std::int64_t lead_ns);
  std::int64_t begin_before(Trial& trial, std::int64_t release_ns, std::int64_t lead_ns) const;

  const model::Application& application_;
  SimulationRandom random_;
  bool delays_vary_;
  LaterBegins begins_;
  bool has_events_ = false;
  bool has_waits_ = false;
  std::vector<std::int64_t> stated_;
  std::vector<std::size_t> sources_;
  std::vector<std::size_t> free_;   ///< sources with offsets that the search may choose
  std::vector<std::size_t> fixed_;  ///< sources with stated offsets
  std::int64_t longest_ns_ = 1;     ///< of the periods
  std::int64_t grid_ns_ = 1;        ///< after which all timers with a stated offset repeat
};

/// Returns whether the offset of the densest releases is that of a bunch: releases on time may come
/// before it.
bool has_bunches(const model::Callback& callback);

}  // namespace rclrt::analysis::detail
