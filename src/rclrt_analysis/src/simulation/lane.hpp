// SPDX-License-Identifier: Apache-2.0
// The queue of one level or of all levels, or the inbox of a scheduler thread: a lane in
// rclrt_executor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/processors.hpp"

namespace rclrt::analysis::detail {

/// The schedule of one timer.
struct SimulatedTimer {
  const TimerTrigger* trigger = nullptr;
  Id entity = kNone;
  std::int64_t nominal_ns = 0;  ///< its next release
  std::int64_t due_ns = 0;      ///< that release with its jitter
  std::uint64_t releases = 0;
  SimulationRandom random{0};
};

/// Timers ordered by their due times, the next one first; among equals in order of registration.
class TimerHeap {
 public:
  explicit TimerHeap(const std::vector<SimulatedTimer>& timers) : timers_(&timers) {}

  bool empty() const { return heap_.empty(); }
  std::int64_t next_ns() const { return empty() ? kNever : (*timers_)[heap_.front()].due_ns; }

  void add(Id timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), later());
  }

  /// Removes and returns the next timer, which the caller adds again.
  Id take() {
    std::pop_heap(heap_.begin(), heap_.end(), later());
    const Id timer = heap_.back();
    heap_.pop_back();
    return timer;
  }

 private:
  struct Later {
    const std::vector<SimulatedTimer>* timers;
    bool operator()(Id a, Id b) const {
      const std::int64_t due_a = (*timers)[a].due_ns;
      const std::int64_t due_b = (*timers)[b].due_ns;
      return due_a != due_b ? due_a > due_b : a > b;
    }
  };
  Later later() const { return {timers_}; }

  const std::vector<SimulatedTimer>* timers_;
  std::vector<Id> heap_;
};

struct SimulatedLane {
  /// An instance and its place: the highest rank first, each rank in order.
  struct Waiting {
    int rank = 0;  ///< 0, unless several levels share the lane
    std::uint64_t order = 0;
    Id instance = kNone;
    bool operator<(const Waiting& other) const {
      return rank != other.rank ? rank > other.rank : order < other.order;
    }
  };

  explicit SimulatedLane(const std::vector<SimulatedTimer>& all_timers) : timers(all_timers) {}

  Id executor = 0;
  Key key = 0;
  TimerHeap timers;
  std::vector<Id> pushed;        ///< instances that are not collected yet, oldest first
  std::vector<Waiting> waiting;  ///< the next one at `first`
  std::size_t first = 0;
  std::uint64_t next_order = 0;
  std::vector<Id> workers;
  std::vector<Id> set;  ///< of kStaticOrder: the rest of its set begins at `set_next`
  std::size_t set_next = 0;
  std::int64_t armed_ns = kNever;  ///< the earliest event that wakes it for a timer

  bool empty() const { return first == waiting.size(); }

  /// Inserts an instance at its place, also when it returns because it had to wait for its group.
  void insert(const Waiting& one) {
    const auto begin = waiting.begin() + static_cast<std::ptrdiff_t>(first);
    waiting.insert(std::upper_bound(begin, waiting.end(), one), one);
  }

  Id take_first() {
    const Id instance = waiting[first++].instance;
    if (empty()) {
      waiting.clear();
      first = 0;
    } else if (first > 64 && first > waiting.size() / 2) {
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(first));
      first = 0;
    }
    return instance;
  }
};

}  // namespace rclrt::analysis::detail
