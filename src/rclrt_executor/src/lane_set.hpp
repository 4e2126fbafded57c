// SPDX-License-Identifier: Apache-2.0
// The lanes of an executor, one for each level or one for all, and the workers that run them.
#pragma once

#include <algorithm>
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

/// The lanes of an executor: one for each level, with its workers. If callbacks run to completion,
/// all levels share one lane, and the number of its workers limits how many callbacks run at the
/// same time.
///
/// All functions but `wake_all` are called with the executor's configuration locked, or by its
/// constructor and destructor. A lane lives as long as the executor.
class LaneSet {
 public:
  static constexpr std::size_t kMaxReservations = 64;
  /// A level has no more workers than this only for a shorter wake-up: each needs a stack.
  static constexpr std::size_t kMostSleepers = 4;
  /// Returns the number of workers of a level where `useful` may work at the same time.
  static constexpr std::size_t with_sleepers(std::size_t useful, std::size_t cpus) noexcept {
    return std::max(useful, std::min(cpus, kMostSleepers));
  }

  /// The threads in which the workers of a level sleep.
  enum class Sleepers : std::uint8_t {
    kAsStated,   ///< as many as may work at the same time
    kOnEachCpu,  ///< one for each CPU, up to kMostSleepers, unless the options state a number
  };

  /// A lane that all levels share: its order, and how its threads are called.
  struct SharedLane {
    ReleaseQueue::Order order = ReleaseQueue::Order::kByLevel;
    const char* name = "run";
    std::uint32_t first_slot = 0;  ///< of its workers, if the executor has other lanes, too
  };

  LaneSet(const DispatcherContext& context, const Dispatcher& dispatcher)
      : LaneSet(context, dispatcher, SharedLane{}) {}
  LaneSet(const DispatcherContext& context, const Dispatcher& dispatcher, Sleepers sleepers)
      : context_(context), dispatcher_(dispatcher), shared_{}, sleepers_(sleepers) {}
  LaneSet(const DispatcherContext& context, const Dispatcher& dispatcher, SharedLane shared)
      : context_(context), dispatcher_(dispatcher), shared_(shared) {}

  /// Returns the lane of the callback's level. Creates it if needed. If the workers of other lanes
  /// are running, starts its workers, and one more for a callback that comes to it. If starting a
  /// worker throws std::system_error, the lane stays, and the next call starts the missing workers.
  RCLRT_SETUP Lane& at(const Callback& callback);
  /// Releases no more instances of the callback by time.
  RCLRT_SETUP void remove(Callback& callback) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;
  /// Changes lanes and workers to the current SCHED_FIFO priorities of their levels, the least
  /// urgent first. Levels move down when new ones are added above them; they never overtake each
  /// other.
  RCLRT_SETUP void apply_priorities();

  /// Returns the most urgent instance that became ready by `ready_by_ns`; nullptr: there is none.
  /// Called while the lanes have no workers.
  Instance* try_pop(std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  /// Returns the next release of all timers.
  std::int64_t next_release_ns() noexcept RCLRT_WAITS;

  /// Returns the threads of the lane of a callback.
  WorkerPool pool_of(const Callback& callback) const;
  /// Returns a remedy if all threads of a lane wait.
  std::string stall_advice() const;

  /// Starts the threads of each lane. At most `workers_per_lane` of them work at the same time, or
  /// fewer if not so many instances of the lane can run at the same time. Also starts spare threads
  /// for each lane in which all workers may wait at the same time. Throws std::system_error.
  RCLRT_SETUP void start(std::size_t workers_per_lane);
  /// Joins the threads. Locks the configuration itself to get the list of threads, but not while it
  /// joins, because a callback may wait for that lock.
  void stop() noexcept RCLRT_WAITS;

  /// Wakes all sleeping threads. Thread-safe.
  void wake_all() noexcept RCLRT_NONBLOCKING;

 private:
  struct Level {
    Level(int with, realtime::EventCount& outside, ReleaseQueue::Order order, std::size_t most)
        : level(with), most_workers(most), lane(Lane::Use::kRun, outside, order, most) {}
    const int level;  // kAll: shared by all levels
    const std::size_t most_workers;
    Lane lane;
    Level* before = nullptr;  // the level made before; does not change once this one is published
    std::vector<std::unique_ptr<LaneThread>> threads;  // workers and spares in order of start
    std::size_t workers = 0;                           // the number of workers among them
    std::size_t wanted = 0;  // workers that may work at the same time; 0 while none run
    bool was_left = false;   // instances of a callback that was moved away may wait in the lane
  };

  static constexpr int kAll = 0;

  /// Starts the threads that the level lacks.
  void start_threads(Level& level);
  bool start_worker(Level& level);
  void start_thread(Level& level, LaneWorker::Kind kind);
  std::size_t stated_workers(const Level& level) const;
  std::vector<const Callback*> callbacks_of(const Level& level) const;
  std::size_t useful_workers(const Level& level) const;
  int urgency_of(const Level& level) const;
  bool sleeps_on_each_cpu(const Level& level) const;
  std::size_t wanted_workers(const Level& level) const;
  std::size_t wanted_spares(const Level& level) const;
  int start_cpu(const Level& level) const;
  realtime::ThreadOptions worker_options(const Level& level) const;

  const DispatcherContext context_;
  const Dispatcher& dispatcher_;
  const SharedLane shared_;
  const Sleepers sleepers_ = Sleepers::kAsStated;
  std::vector<std::unique_ptr<Level>> levels_;  // ascending
  std::size_t workers_per_lane_ = 0;            // 0 while no workers run
  /// The list of levels for wake_all, which takes no lock. The levels are linked by `before`, and
  /// the list only grows. A level is stored with release once it is complete. PAIRS WITH: the
  /// acquire in wake_all.
  std::atomic<Level*> newest_{nullptr};
};

}  // namespace rclrt::executor
