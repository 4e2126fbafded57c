// SPDX-License-Identifier: Apache-2.0
// Memory for explaining which instances delayed another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "rclrt/executor/blame.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt::executor {

/// Working memory to explain deadline misses, in rooms that one worker uses at a time. All workers
/// without a SCHED_DEADLINE budget share one room. There is one more room for each worker with a
/// budget. Such a worker keeps its room until its next period if its budget ends in the middle of
/// an explanation, and must not make another worker wait for that.
class BlamePool {
 public:
  /// Guarded by `mutex`, held for a copy of the history and a sort of it.
  struct Room {
    explicit Room(std::size_t remembered)
        : intervals(remembered),
          events(3 * (remembered + 1)),
          running(remembered + 1),
          tallies(remembered + 1) {}

    BlameScratch scratch() noexcept RCLRT_NONBLOCKING {
      return {.events = events, .active = running, .tallies = tallies};
    }

    realtime::PiMutex mutex;
    std::vector<ExecutionInterval> intervals;
    std::vector<BlameScratch::Event> events;
    std::vector<std::uint32_t> running;
    std::vector<BlameScratch::Tally> tallies;
  };

  /// Allocates the rooms. `remembered` is the number of instances in the history, `budgets` the
  /// number of workers with a SCHED_DEADLINE budget.
  RCLRT_SETUP BlamePool(std::size_t remembered, std::size_t budgets) {
    for (std::size_t i = 0; i < 1 + budgets; ++i) {
      rooms_.push_back(std::make_unique<Room>(remembered));
    }
  }

  /// Locks a room and returns it; the caller unlocks `mutex`. A worker without a budget waits for
  /// the first room. A worker with a budget (`has_budget`) takes any of the other rooms. It always
  /// finds a free one, because there is a room for each such worker.
  Room& lock(bool has_budget) noexcept RCLRT_WAITS {
    for (std::size_t i = 1; has_budget && rooms_.size() > 1;
         i = i + 1 < rooms_.size() ? i + 1 : 1) {
      if (rooms_[i]->mutex.try_lock()) {
        return *rooms_[i];
      }
    }
    rooms_.front()->mutex.lock();
    return *rooms_.front();
  }

 private:
  std::vector<std::unique_ptr<Room>> rooms_;
};

}  // namespace rclrt::executor
