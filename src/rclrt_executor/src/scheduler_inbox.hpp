// SPDX-License-Identifier: Apache-2.0
// The scheduler thread of the thesis's two models.
#pragma once

#include <cstdint>
#include <utility>

#include "dispatcher.hpp"
#include "lane.hpp"
#include "rclrt/realtime/thread.hpp"
#include "spin_state.hpp"
#include "thread_settings.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

/// A thread above all levels, and its inbox: a lane that takes all that becomes ready, and holds
/// all timers.
class SchedulerInbox {
 public:
  explicit SchedulerInbox(const DispatcherContext& context)
      : context_(context), lane_(Lane::Use::kPass, context.spin.caller_wakeup()) {}

  Lane& lane() noexcept { return lane_; }

  /// Lets the callback release into the inbox; `then` is where its instances go from there.
  void add(Callback& callback, detail::ReadySink& then) {
    state_of(callback).sink.store(&lane_);
    state_of(callback).lane.store(&then);
    if (TimerCallback* const timer = as_timer(callback)) {
      lane_.add_timer(timer);
    }
  }
  void remove(Callback& callback) noexcept {
    if (TimerCallback* const timer = as_timer(callback)) {
      lane_.remove_timer(timer);
    }
  }

  /// Moves an instance to where its callback's go from here.
  static void pass_on(Instance* instance) noexcept RCLRT_NONBLOCKING {
    detail::CallbackState& state = state_of(*instance->callback);
    state.lane.load()->submit(instance);
    state.unpin();
  }
  /// Does so, without the thread, with all that are in it, and returns the next release of all
  /// timers.
  std::int64_t pass_all_on() noexcept RCLRT_WAITS {
    while (Instance* const instance = lane_.try_pop(INT64_MAX)) {
      pass_on(instance);
    }
    return lane_.next_release_ns();
  }

  /// Starts the thread, which calls `handle` with each instance, pinned, until the spin stops.
  template <typename Handle>
  void start(Handle handle) {
    thread_ = realtime::Thread(
        context_.threads.scheduler_thread_options(), [this, handle = std::move(handle)] {
          context_.spin.await_start();
          WorkerPriority priority;  // nothing runs here, so nothing is raised
          while (Instance* const instance = lane_.pop(context_.spin.stop_flag(), priority)) {
            handle(instance);
          }
        });
  }
  void join() noexcept { thread_.join(); }

 private:
  const DispatcherContext context_;
  Lane lane_;
  realtime::Thread thread_;
};

}  // namespace rclrt::executor
