// SPDX-License-Identifier: Apache-2.0
// The offsets, execution times and delays that a search of schedules tries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

struct Trial {
  std::vector<std::int64_t> offsets_ns;  ///< one per callback; 0 for those that take messages
  int lowest_percent = 100;
  int lowest_delay_percent = 100;
  std::uint64_t seed = 0;
  bool extremes = false;  ///< see CounterExample::extremes
};

/// A trial that repeats a part of another one, with changes.
struct Part {
  Trial trial;
  std::int64_t length_ns = 0;
};

/// Chooses the trials of a search. Deterministic by the seed. Keeps a reference to the application.
class Trials {
 public:
  Trials(const model::Application& application, std::uint64_t seed, bool delays_vary);

  /// Returns the offsets that the application states, or zero.
  const std::vector<std::int64_t>& stated_offsets_ns() const { return stated_; }

  /// Returns the timers and events.
  const std::vector<std::size_t>& sources() const { return sources_; }

  std::int64_t period_ns(std::size_t source) const {
    return model::period(application_.callbacks[source]).count();
  }

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
  /// Stated offsets stay: the part then begins after whole periods.
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

  const model::Application& application_;
  SimulationRandom random_;
  bool delays_vary_;
  bool has_events_ = false;
  bool has_waits_ = false;
  std::vector<std::int64_t> stated_;
  std::vector<std::size_t> sources_;
  std::vector<std::size_t> free_;  ///< sources with offsets that the search may choose
  std::int64_t longest_ns_ = 1;    ///< of the periods
  std::int64_t grid_ns_ = 1;       ///< after which all timers with a stated offset repeat
};

}  // namespace rclrt::analysis::detail
