// SPDX-License-Identifier: Apache-2.0
// The queue of one level, or the inbox of a scheduler thread: what rclrt_executor calls a lane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulation_processors.hpp"

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

/// Timers by the time they are due, the next one first; among equals in order of registration.
class TimerHeap {
 public:
  explicit TimerHeap(const std::vector<SimulatedTimer>& timers) : timers_(&timers) {}

  bool empty() const { return heap_.empty(); }
  std::int64_t next_ns() const { return empty() ? kNever : (*timers_)[heap_.front()].due_ns; }

  void add(Id timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), later());
  }

  /// Takes the next one out, to be added again.
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
  explicit SimulatedLane(const std::vector<SimulatedTimer>& all_timers) : timers(all_timers) {}

  Id executor = 0;
  Key key = 0;
  TimerHeap timers;
  std::vector<Id> pushed;  ///< instances, oldest first, that nobody has collected yet
  std::vector<std::pair<std::uint64_t, Id>> waiting;  ///< by order; the next one at `first`
  std::size_t first = 0;
  std::uint64_t next_order = 0;
  std::vector<Id> workers;
  std::int64_t armed_ns = kNever;  ///< the earliest event that wakes it for a timer

  bool empty() const { return first == waiting.size(); }

  void append(std::uint64_t order, Id instance) { waiting.emplace_back(order, instance); }

  Id take_first() {
    const Id instance = waiting[first++].second;
    if (empty()) {
      waiting.clear();
      first = 0;
    } else if (first > 64 && first > waiting.size() / 2) {
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(first));
      first = 0;
    }
    return instance;
  }

  /// An instance that had to wait for its group goes to its old place.
  void put_back(std::uint64_t order, Id instance) {
    const auto begin = waiting.begin() + static_cast<std::ptrdiff_t>(first);
    waiting.insert(std::upper_bound(begin, waiting.end(), std::pair(order, instance)),
                   {order, instance});
  }
};

}  // namespace rclrt::analysis::detail
