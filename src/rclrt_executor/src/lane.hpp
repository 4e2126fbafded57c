// SPDX-License-Identifier: Apache-2.0
// The queue of one level, with the timers of that level.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt::executor {

/// Instances in order of release: pushed by any thread, or released by the lane's own timers, and
/// popped by its workers. The worker that would sleep sleeps until the next timer release instead,
/// so a timer costs one wake-up and no other level pays for it.
///
/// * A push is one compare-and-swap on `pushed_`: a producer that is preempted in a push hides
///   nothing that others pushed, so a less urgent publisher never delays this lane.
/// * `pushed_` is a stack, newest first. A consumer takes all of it at once and reverses it. All
///   consumer state (`first_`, `last_`, `timers_` and the timers' schedules) is touched only with
///   `consumer_` held. It is a priority-inheritance mutex among workers of one priority, held for
///   a few instructions.
/// * A worker that found nothing checks again after `prepare_wait`; `pushed_` is accessed with
///   seq_cst on both sides, as EventCount asks.
class Lane : public ReadySink {
 public:
  RCLRT_SETUP explicit Lane(std::vector<TimerCallback*> timers);
  /// Discards what is left. No entity may release into the lane any more.
  ~Lane() override;

  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING override {
    push(instance);
    available_.notify_one();
  }

  /// The oldest instance; sleeps while there is none. nullptr once `stop` is true.
  Instance* pop(const std::atomic<bool>& stop) noexcept RCLRT_WAITS;

  /// After `stop` was set: lets all sleeping workers see it.
  void wake_all() noexcept RCLRT_NONBLOCKING { available_.notify_all(); }

 private:
  void push(Instance* instance) noexcept RCLRT_NONBLOCKING;
  Instance* try_pop(bool& more) noexcept RCLRT_WAITS;
  bool has_work() noexcept RCLRT_WAITS;
  void collect() noexcept;
  void append(Instance* instance) noexcept;
  std::int64_t next_timer_ns() const noexcept;

  std::atomic<Instance*> pushed_{nullptr};
  realtime::EventCount available_;
  // True while one sleeping worker has taken on to wake at the next timer release.
  std::atomic<bool> timekeeper_{false};

  alignas(64) realtime::PiMutex consumer_;
  Instance* first_ = nullptr;
  Instance* last_ = nullptr;
  std::vector<TimerCallback*> timers_;  // a heap, the earliest release on top
};

}  // namespace rclrt::executor
