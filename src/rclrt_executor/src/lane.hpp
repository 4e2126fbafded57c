// SPDX-License-Identifier: Apache-2.0
// A queue of instances, with their timers, and the workers that sleep on it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "lane_watch.hpp"
#include "lane_worker.hpp"
#include "pi_lock.hpp"
#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "release_queue.hpp"
#include "spare_watch.hpp"

namespace rclrt::executor {

/// Instances in order of release, or by level: pushed by any thread, or released by the lane's own
/// timers, and popped by its workers. A worker that would sleep sleeps until the lane's next timer
/// release instead, so a timer costs one wake-up and no other level pays for it; see LaneWatch.
///
/// * `pop` enters the instance's group before it returns the instance: instances of one callback
/// run
///   in the order of their releases, and no worker waits for a group while its lane has other work.
/// * `queue_`, its timers' schedules included, and `watch_` are touched only with `consumer_` held,
///   a push excepted. The lock has priority inheritance and is held for a few instructions, and
///   two system calls when a worker takes a group's ceiling. Groups' mutexes are taken inside it,
///   never the other way round.
/// * A worker sleeps on the event count of its role, and checks once more, with `consumer_` held,
///   what was pushed after it has prepared to. Work for one worker wakes a follower first and the
///   leader last: another worker would have to be woken to take the leader's place. What no worker
///   sleeps for is told to the spare that watches, if there is one; see SpareWatch.
///
/// Two cache lines: the first is all that a producer touches.
class alignas(64) Lane : public detail::ReadySink {
 public:
  /// What its consumer does with instances.
  enum class Use {
    kRun,   ///< runs them: they have entered their group when they are popped
    kPass,  ///< may_preempt them on
  };
  /// `outside` is rung as well when no worker sleeps who could take what became ready.
  RCLRT_SETUP Lane(Use use, realtime::EventCount& outside,
                   ReleaseQueue::Order order = ReleaseQueue::Order::kByRelease)
      : use_(use), outside_(outside), queue_(order) {}
  /// Discards what is left. No entity may release into the lane any more.
  ~Lane() override;

  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING override {
    queue_.push(instance);
    wake_one();
  }

  void resume(Instance* instance) noexcept RCLRT_WAITS override;

  /// The first instance; sleeps while there is none. nullptr once `stop` is true. `worker` is the
  /// calling thread, which is raised to the ceiling of the instance's group. A spare one gets an
  /// instance only in place of a worker that waits in its callback.
  Instance* pop(const std::atomic<bool>& stop, LaneWorker& worker) noexcept RCLRT_WAITS {
    return worker.kind == LaneWorker::Kind::kSpare ? pop_as_spare(stop, worker)
                                                   : pop_as_worker(stop, worker);
  }

  /// The same without sleeping, for a worker that is not known: nullptr when nothing that became
  /// ready by then waits.
  Instance* try_pop(std::int64_t ready_by_ns, WorkerPriority& priority) noexcept RCLRT_WAITS;
  /// The same without a worker.
  Instance* try_pop(std::int64_t ready_by_ns) noexcept RCLRT_WAITS;
  /// Whether something waits, or a timer is due.
  bool has_waiting() noexcept RCLRT_WAITS;
  /// The next release of its timers.
  std::int64_t next_release_ns() noexcept RCLRT_WAITS;

  /// Keeps the time for one more timer, whose schedule has been started, or no longer.
  RCLRT_SETUP void add_timer(TimerCallback* timer);
  RCLRT_SETUP void remove_timer(TimerCallback* timer) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  RCLRT_SETUP void remove_queued(const Callback& callback, Instance*& taken) noexcept;

  /// Lets a thread take part whose body has not begun; forgets all, which have ended.
  RCLRT_SETUP void add_worker(LaneWorker& worker) noexcept;
  RCLRT_SETUP void forget_workers() noexcept;

  /// After `stop` was set: lets all sleeping workers see it.
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
  bool wake_worker() noexcept RCLRT_NONBLOCKING;
  void wake_one() noexcept RCLRT_NONBLOCKING;
  realtime::EventCount& wakeup(Role role) noexcept RCLRT_NONBLOCKING {
    return wakeups_[static_cast<std::size_t>(role)];
  }

  const Use use_;
  realtime::EventCount& outside_;
  std::array<realtime::EventCount, 3> wakeups_;
  ReleaseQueue queue_;
  PiLock consumer_;
  LaneWatch watch_;
  SpareWatch spares_;
};

}  // namespace rclrt::executor
