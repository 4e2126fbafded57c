// SPDX-License-Identifier: Apache-2.0
// Room to work out who was in the way.
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

/// Room for one explanation at a time, shared by all workers, and as many more as there are workers
/// with a budget: one whose budget ends in the middle keeps what it holds to its next period, and
/// must keep no other worker waiting.
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

  /// `remembered`: of how many instances; `budgets`: how many workers have one.
  RCLRT_SETUP BlamePool(std::size_t remembered, std::size_t budgets) {
    for (std::size_t i = 0; i < 1 + budgets; ++i) {
      rooms_.push_back(std::make_unique<Room>(remembered));
    }
  }

  /// A worker with a budget takes any room but the first, and finds one: there are as many as such
  /// workers. The others wait for the first.
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
