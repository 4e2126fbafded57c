// SPDX-License-Identifier: Apache-2.0
// The scheduler thread of the thesis's two models.
#pragma once

#include <cstdint>
#include <utility>

#include "dispatcher.hpp"
#include "lane.hpp"
#include "rclrt/realtime/thread.hpp"
#include "releaser.hpp"
#include "spin_state.hpp"
#include "thread_settings.hpp"

namespace rclrt::executor {

/// A scheduler thread above all levels, and its inbox: a lane that holds all timers and takes all
/// ready instances. If callbacks run to completion there is no such thread: all levels then share
/// one lane, which keeps the order, and without real-time scheduling the thread could not preempt
/// the workers.
class SchedulerInbox {
 public:
  explicit SchedulerInbox(const DispatcherContext& context)
      : context_(context), lane_(Lane::Use::kForward, context.spin.caller_wakeup()) {}

  Lane& lane() noexcept { return lane_; }

  /// Makes the callback release its instances into the inbox, from which they go to `then`. If
  /// there is no scheduler thread, the callback releases directly into `then`.
  void add(Callback& callback, Lane& then) {
    Lane& first = has_thread() ? lane_ : then;
    state_of(callback).sink.store(&first);
    state_of(callback).lane.store(&then);
    if (TimerCallback* const timer = as_timer(callback)) {
      first.add_timer(timer);
    }
  }
  void remove(Callback& callback) noexcept {
    if (TimerCallback* const timer = as_timer(callback)) {
      lane_.remove_timer(timer);
    }
  }

  /// Moves an instance to the destination of its callback.
  static void pass_on(Instance* instance) noexcept RCLRT_NONBLOCKING {
    detail::CallbackState& state = state_of(*instance->callback);
    state.lane.load()->submit(instance);
    state.unpin();
  }
  /// Moves all instances of the inbox to their lanes, while the scheduler thread does not run.
  /// Returns the time of the next release of the inbox's timers.
  std::int64_t pass_all_on() noexcept RCLRT_WAITS {
    while (Instance* const instance = lane_.try_pop(INT64_MAX)) {
      pass_on(instance);
    }
    return lane_.next_release_ns();
  }

  /// Starts the thread, which calls `handle` with each instance, pinned, until the spin stops.
  template <typename Handle>
  void start(Handle handle) {
    if (!has_thread()) {
      return;
    }
    thread_ = realtime::Thread(
        context_.threads.scheduler_thread_options(), [this, handle = std::move(handle)] {
          static_cast<void>(priority_of_releaser());  // the first call makes system calls
          context_.spin.await_start();
          LaneWorker self;  // runs no callbacks, so its priority is never raised
          while (Instance* const instance = lane_.pop(context_.spin.stop_flag(), self)) {
            handle(instance);
          }
        });
  }
  void join() noexcept { thread_.join(); }

 private:
  bool has_thread() const noexcept { return !context_.threads.runs_to_completion(); }

  const DispatcherContext context_;
  Lane lane_;
  realtime::Thread thread_;
};

}  // namespace rclrt::executor
