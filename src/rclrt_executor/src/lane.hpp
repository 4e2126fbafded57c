// SPDX-License-Identifier: Apache-2.0
// A queue of instances, with their timers, and the workers that sleep on it.
#pragma once

#include <atomic>
#include <cstddef>

#include "lane_sleepers.hpp"
#include "lane_watch.hpp"
#include "lane_worker.hpp"
#include "pi_lock.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "release_queue.hpp"
#include "spare_watch.hpp"

namespace rclrt::executor {

/// A queue of ready instances with its timers and its workers. The instances are in order of
/// release, or by level. Any thread pushes instances, the lane's own timers release some, and the
/// lane's workers pop them. An idle worker sleeps until the lane's next timer release, so a timer
/// costs one wake-up, and none in other lanes; see LaneWatch.
///
/// * `pop` enters the instance's group before it returns the instance. So instances of one callback
///   run in the order of their releases, and no worker waits for a group while its lane has other
///   work.
/// * `queue_`, including its timers' schedules, and `watch_` are accessed only with `consumer_`
///   held, except for a push. This lock has priority inheritance and is held for a few
///   instructions, and for two system calls when a worker takes a group's ceiling. Groups' mutexes
///   are taken while it is held, never the other way round.
/// * A worker sleeps in its slot of `sleepers_` (see LaneSleepers), in a role (see LaneWatch).
///   After `fall_asleep` it checks once more for pushed instances, with `consumer_` held. A
///   SCHED_FIFO thread that is less urgent than the lane wakes a worker that sleeps on its own CPU,
///   where the worker preempts it. Another thread wakes one of another CPU. If it wakes none,
///   because no worker sleeps or as many are awake as can have work, the spare thread that watches
///   is notified, if there is one; see SpareWatch.
///
/// A producer accesses only the first cache line, unless the lane has more than two workers (the
/// others have slots on the heap) or none of them can be woken.
class alignas(64) Lane : public detail::ReadySink {
 public:
  /// The consumer's use of the instances.
  enum class Use {
    kRun,      ///< it runs them: they have entered their group when they are popped
    kForward,  ///< it forwards them to other threads
  };
  /// If an instance is ready and no worker of the lane sleeps, `outside` is notified, too: threads
  /// outside of the lane may then take it.
  /// The lane has at most `most_workers` workers at a time, spare threads not counted.
  RCLRT_SETUP Lane(Use use, realtime::EventCount& outside,
                   ReleaseQueue::Order order = ReleaseQueue::Order::kByRelease,
                   std::size_t most_workers = 1)
      : outside_(outside), sleepers_(most_workers), queue_(order), use_(use) {}
  /// Discards the instances that are left. No entity may release into the lane any more.
  ~Lane() override;

  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING override {
    // relaxed: it only chooses among workers, each of which may run the instance
    const std::int64_t before_ns = last_ready_ns_.load(std::memory_order_relaxed);
    last_ready_ns_.store(instance->ready_ns, std::memory_order_relaxed);
    const bool follows = instance->ready_ns - before_ns < kStream_ns;
    queue_.push(instance);
    wake_one(follows);
  }

  void resume(Instance* instance) noexcept RCLRT_WAITS override;

  /// Returns the first instance; sleeps while there is none. Returns nullptr once `stop` is true.
  /// `worker` is the calling thread; it is raised to the ceiling of the instance's group. A spare
  /// thread gets an instance only in place of a worker that waits in its callback.
  Instance* pop(const std::atomic<bool>& stop, LaneWorker& worker) noexcept RCLRT_WAITS {
    return worker.kind == LaneWorker::Kind::kSpare ? pop_as_spare(stop, worker)
                                                   : pop_as_worker(stop, worker);
  }

  /// Does the same as `pop` without sleeping, for a thread that is not a worker of the lane.
  /// Returns nullptr if no waiting instance became ready by `ready_by_ns`.
  Instance* try_pop(std::int64_t ready_by_ns, WorkerPriority& priority) noexcept RCLRT_WAITS;
  /// Does the same without a worker.
  Instance* try_pop(std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  /// Returns whether an instance waits, or a timer is due.
  bool has_waiting() noexcept RCLRT_WAITS;
  /// Returns the next release of its timers.
  std::int64_t next_release_ns() noexcept RCLRT_WAITS;

  /// Adds a timer (this function) or removes one (the next). The lane releases its timers. The
  /// timer's schedule must have been started before.
  RCLRT_SETUP void add_timer(TimerCallback* timer);
  RCLRT_SETUP void remove_timer(TimerCallback* timer) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;

  /// Adds a worker before its thread runs; removes all workers after their threads have ended.
  RCLRT_SETUP void add_worker(LaneWorker& worker) noexcept;
  RCLRT_SETUP void forget_workers() noexcept;

  /// Sets how many workers may work at the same time, at least 1. So many must exist. Called by one
  /// thread at a time.
  RCLRT_SETUP void set_limit(std::size_t workers) noexcept;
  /// Sets the SCHED_FIFO priority of the workers, by which the CPU is chosen on which a worker is
  /// woken. 0: there is nothing to choose. Thread-safe.
  RCLRT_SETUP void set_urgency(int kernel_priority) noexcept {
    urgency_.store(kernel_priority, std::memory_order_relaxed);  // see there
  }

  /// Wakes all sleeping workers after `stop` was set.
  void wake_all() noexcept RCLRT_NONBLOCKING;

 private:
  using Role = LaneWatch::Role;

  Instance* pop_as_worker(const std::atomic<bool>& stop, LaneWorker& worker) noexcept RCLRT_WAITS;
  Instance* pop_as_spare(const std::atomic<bool>& stop, LaneWorker& spare) noexcept RCLRT_WAITS;
  Instance* stand_in_or_sleep(const std::atomic<bool>& stop,
                              LaneWorker& spare) noexcept RCLRT_WAITS;
  Instance* take(WorkerPriority& priority, std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  Instance* take_for(LaneWorker& worker) noexcept RCLRT_WAITS;
  bool enter(Instance* instance, WorkerPriority& priority) noexcept;
  LaneSleepers::Preference preference(bool follows) const noexcept RCLRT_NONBLOCKING;
  int cpu_of_worker() const noexcept RCLRT_NONBLOCKING;
  void wake_one(bool follows) noexcept RCLRT_NONBLOCKING;

  /// An instance that becomes ready so soon after the last one belongs to a stream of instances.
  /// The threads of a stream are faster side by side on two CPUs: if each instance preempted its
  /// publisher, the kernel would move the publisher to another CPU each time.
  static constexpr std::int64_t kStream_ns = 50'000;

  realtime::EventCount& outside_;
  // Both only choose which worker is woken. relaxed: whichever it is, it may run the instance.
  std::atomic<std::int64_t> last_ready_ns_{0};  // of the last instance that was pushed
  std::atomic<int> urgency_{0};
  LaneSleepers sleepers_;
  ReleaseQueue queue_;
  const Use use_;
  PiLock consumer_;
  LaneWatch watch_;
  SpareWatch spares_;
};

}  // namespace rclrt::executor
