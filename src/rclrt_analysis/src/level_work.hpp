// SPDX-License-Identifier: Apache-2.0
// The work at and above one level that releases and completions of callbacks cause.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "callback_graph.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis::detail {

inline constexpr Ticks kMillisecond = 1'000'000;

/// The parts of the work that do not depend on the level.
struct Workload {
  /// The order in which callbacks run.
  enum class Order {
    kPriority,
    kAny,         ///< whatever the executor likes, as long as it does not idle
    kAnyToTheEnd  ///< the same, and what has started is not interrupted by callbacks
  };
  Workload(const model::Application& app, const Overheads& overheads,
           Order order_of_callbacks = Order::kPriority);

  const model::Application& application;
  CallbackGraph graph;
  Order order;
  std::vector<int> priority;        ///< effective, of each callback
  std::vector<int> ceiling;         ///< the highest in its group; its own without one
  std::vector<Ticks> wcet;          ///< ns, without overheads
  Ticks dispatch;                   ///< ns per instance, on the scheduler thread too
  Ticks scheduler;                  ///< the part of `dispatch` that runs above all levels
  Ticks first_poll;                 ///< ns before the first callback of a busy period
  Ticks background;                 ///< ns in each millisecond
  Ticks stall;                      ///< ns, once
  std::vector<std::size_t> timers;  ///< the callbacks with a timer
  std::vector<Ticks> period;        ///< of each of `timers`
  /// For a sync, the publisher of the messages that count its runs; for a subscription, its only
  /// publisher. Absent if there are several.
  std::vector<std::optional<std::size_t>> counted_by;
  /// The timer at the end of counted_by, as a callback; absent if counted_by ends before a timer.
  std::vector<std::optional<std::size_t>> source;

  /// Returns 1 if a callback returns an instant after its work, so that a release at that very time
  /// finds it running. That is the case if it has no work, or if something that it releases may
  /// preempt it before it returns, such as a callback of another executor. Otherwise returns 0.
  Ticks return_delay(std::size_t callback) const;

 private:
  void find_sources();
};

struct Started {
  Ticks work{};
  std::size_t callback{};
};

/// Head and Started of chain_bounds.hpp for one level.
class LevelWork {
 public:
  /// `here`: for each callback, whether it runs on the core. Only these may have started.
  LevelWork(const Workload& workload, int level, const std::vector<bool>& here);

  int level() const { return level_; }

  /// Returns the work that an instance of the callback brings, with all that follows it, before a
  /// callback below the level is needed. If a path through the graph meets a callback twice, the
  /// callback runs twice.
  Ticks head(std::size_t callback) const { return head_[callback]; }

  /// Returns the part of the head that syncs and the callbacks behind them bring. In any time, they
  /// run no more often than Workload::source releases, but not once for each release: another
  /// input's message may complete a set with one that has waited since before.
  Ticks behind_syncs(std::size_t callback) const { return behind_syncs_[callback]; }

  /// Returns whether each release of Workload::source runs the callback once: no sync is before it.
  bool follows(std::size_t callback) const;

  /// Returns whether the callback's instances are all part of the head of Workload::source.
  bool counted(std::size_t callback) const { return counted_[callback]; }

  /// Returns whether the runs of the sync `to` are counted by a publisher other than `from`.
  bool skips(std::size_t from, std::size_t to) const;

  /// Returns the most work that one callback below the level may leave when the busy period begins.
  const std::optional<Started>& started() const { return started_; }

 private:
  const Workload& workload_;
  int level_;
  std::vector<Ticks> head_;
  std::vector<Ticks> behind_syncs_;
  std::vector<bool> counted_;
  std::optional<Started> started_;
};

}  // namespace rclrt::analysis::detail
