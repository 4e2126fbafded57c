// SPDX-License-Identifier: Apache-2.0
// The lanes of an executor, one for each level or one for all, and the workers that run them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dispatcher.hpp"
#include "lane.hpp"
#include "lane_thread.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

/// Where callbacks run to completion, all levels share one lane; how many run at the same time is
/// the number of its workers.
///
/// All functions but `wake_all` are called with the executor's configuration locked, or by its
/// constructor and destructor. A lane stays until the executor ends.
class LaneSet {
 public:
  static constexpr std::size_t kMaxReservations = 64;

  /// A lane that all levels share: its order, and how its threads are called.
  struct SharedLane {
    ReleaseQueue::Order order = ReleaseQueue::Order::kByLevel;
    const char* name = "run";
    std::uint32_t first_slot = 0;  ///< of its workers, where the executor has other lanes beside
  };

  LaneSet(const DispatcherContext& context, const Dispatcher& dispatcher)
      : LaneSet(context, dispatcher, SharedLane{}) {}
  LaneSet(const DispatcherContext& context, const Dispatcher& dispatcher, SharedLane shared)
      : context_(context), dispatcher_(dispatcher), shared_(shared) {}

  /// Returns the lane of `level`; makes it, and starts its workers if the others run. Throws
  /// std::system_error; the lane stays then, and the next call starts the workers it lacks.
  RCLRT_SETUP Lane& at(int level);
  /// Releases no more instances of the callback by time.
  RCLRT_SETUP void remove(Callback& callback) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;
  /// Gives lanes and workers the priorities that the executor has now, the least urgent first:
  /// levels move down when others come in above them, and never overtake each other.
  RCLRT_SETUP void settle_priorities();

  /// Returns, without workers, the most urgent instance that became ready by then; nullptr: none.
  Instance* try_pop(std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  /// Returns the next release of all timers.
  std::int64_t next_release_ns() noexcept RCLRT_WAITS;

  /// Returns the threads of the lane of a callback.
  WorkerPool pool_of(const Callback& callback) const;
  /// Returns what helps if all of them wait.
  std::string stall_advice() const;

  /// Starts as many workers for each lane, and spares for those that may all wait. Throws
  /// std::system_error.
  RCLRT_SETUP void start(std::size_t workers_per_lane);
  /// Joins them. Takes the lock itself and joins without it, for a callback may wait for it.
  void stop() noexcept RCLRT_WAITS;

  /// Any thread.
  void wake_all() noexcept RCLRT_NONBLOCKING;

 private:
  struct Level {
    Level(int with, realtime::EventCount& outside, ReleaseQueue::Order order)
        : level(with), lane(Lane::Use::kRun, outside, order) {}
    const int level;  // kAll: of all levels
    Lane lane;
    Level* before = nullptr;  // the level made before; does not change once this one is published
    std::vector<std::unique_ptr<LaneThread>> threads;  // workers and spares as they were started
    std::size_t workers = 0;                           // how many of them are workers
  };

  static constexpr int kAll = 0;

  /// Starts those that it lacks.
  void start_threads(Level& level);
  void start_thread(Level& level, LaneWorker::Kind kind);
  std::size_t wanted_workers(const Level& level) const;
  std::size_t wanted_spares(const Level& level) const;
  realtime::ThreadOptions worker_options(const Level& level) const;

  const DispatcherContext context_;
  const Dispatcher& dispatcher_;
  const SharedLane shared_;
  std::vector<std::unique_ptr<Level>> levels_;  // ascending
  std::size_t workers_per_lane_ = 0;            // 0 while they do not run
  /// For wake_all, which takes no lock: a list by `before` that only grows. A level is stored with
  /// release once it is complete. PAIRS WITH: the acquire in wake_all.
  std::atomic<Level*> newest_{nullptr};
};

}  // namespace rclrt::executor
