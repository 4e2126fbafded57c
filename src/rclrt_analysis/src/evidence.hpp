// SPDX-License-Identifier: Apache-2.0
// Evidence that a run recorded for an interval: the work of a CPU, and broken assumptions.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/analysis/observation.hpp"

namespace rclrt::analysis::detail {

/// A time interval, in ns since the start of the run.
struct Span {
  Ticks start{};
  Ticks end{};
  bool operator==(const Span&) const = default;
};

/// A moment at which a measurement contradicts an assumption of the bounds.
struct Event {
  Ticks time{};
  Ticks excess{};  ///< size of the violation, in ns
  std::string what;
};

/// Returns "the event, at 0.050000 s".
std::string to_string(const Event& event);

/// Returns the time as "2.500 ms".
std::string in_ms(Ticks time);

/// Returns when, in [start, end], the probe had to wait and the host was not the cause.
std::vector<Event> waits(std::span<const Stall> stalls, const Allowance& allowed, Ticks start,
                         Ticks end);

/// Returns how much of [start, end] one of `cpus` was measured to stand still. Empty: any CPU.
Ticks stalled_time(std::span<const Stall> stalls, std::span<const int> cpus, Ticks start,
                   Ticks end);

/// The callback instances of each instance of a chain.
class ChainPaths {
 public:
  explicit ChainPaths(std::span<const ObservedInstance> instances);

  /// Returns the messages of one instance between executors that took longer than allowed for.
  std::vector<Event> late_messages(const std::string& chain, std::int64_t instance,
                                   std::span<const std::string> callbacks,
                                   const Allowance& allowed) const;

 private:
  std::map<std::string, std::map<std::string, const ObservedInstance*>, std::less<>> paths_;
};

/// Intervals in which an executor had work at or above a level.
class BusyTimes {
 public:
  BusyTimes(std::span<const ObservedInstance> instances, ExecutorKind executor, int level);

  /// Returns the busy interval that contains `time`, or `time` alone if there is none.
  Span around(Ticks time) const;

 private:
  std::vector<Span> busy_;
};

/// The instances that shared one CPU in [start, end], as seen by a chain of a given level.
class OneCpu {
 public:
  OneCpu(std::span<const ObservedInstance> instances, std::span<const Stall> stalls,
         ExecutorKind executor, int level, Ticks start, Ticks end);

  /// Returns the time that neither work within its bounds nor the overheads account for.
  Ticks lost(const Allowance& allowed) const;

  /// Returns the events that contradict an assumption of the bounds, the largest first.
  std::vector<Event> events(const Allowance& allowed) const;

  /// Returns the stall with its beginning moved to where it may really have begun: up to one probe
  /// period before the probe observed it. It is extended only by time in which the callback that it
  /// interrupted did not have the CPU and no other callback had it.
  Stall stretched(Stall stall, const Allowance& allowed) const;

 private:
  struct Row {
    const ObservedInstance* instance{};
    bool delays{};  ///< it can delay the chain
  };

  void add_too_long(const Allowance& allowed, std::vector<Event>& found) const;
  void add_idle(const Allowance& allowed, std::vector<Event>& found) const;
  void add_taken(const Allowance& allowed, std::vector<Event>& found) const;
  void add_overtaken(const Allowance& allowed, std::vector<Event>& found) const;
  bool is_inside(const ObservedInstance& row) const;
  /// Returns two times, in ns: how long the callback's instance did not have the CPU without a
  /// recorded reason, and how much of that the overheads allow. Both are 0 for an instance that is
  /// not wholly in [start, end].
  std::pair<Ticks, Ticks> gone(const ObservedInstance& row, const Allowance& allowed) const;
  /// Returns an upper limit on the CPU time that the instance used in [start, end].
  Ticks ran(const ObservedInstance& row) const;
  /// Returns how long, in [start, end], the instance may have waited: it did not have the CPU, and
  /// no work that delays the chain began meanwhile. At most what `allowed` has for it.
  Ticks waited(const ObservedInstance& row, const Allowance& allowed) const;
  /// Returns the instances that began while this one ran. `only_delaying`: those that can delay the
  /// chain.
  std::vector<Span> after(const ObservedInstance& row, bool only_delaying = false) const;

  Ticks start_;
  Ticks end_;
  std::vector<Row> rows_;  ///< by start, then the longer ones first
  std::vector<Span> stalls_;
};

}  // namespace rclrt::analysis::detail
