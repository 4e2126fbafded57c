// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/events_executor.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane_set.hpp"
#include "run_to_completion.hpp"

namespace rclrt::executor {

namespace {

/// One lane in order of release, and another one for timers if they have a thread of their own.
class EventsDispatcher final : public Dispatcher {
 public:
  EventsDispatcher(const DispatcherContext& context, EventsOptions events)
      : Dispatcher(context, {.maps_levels = false, .max_threads = events.timers_thread ? 2U : 1U}),
        events_(events),
        queue_(context, *this, {.order = ReleaseQueue::Order::kByRelease, .name = "run"}),
        timers_(context, *this,
                {.order = ReleaseQueue::Order::kByRelease, .name = "timers", .first_slot = 1}) {}

  void add(Callback& callback) override {
    TimerCallback* const timer = as_timer(callback);
    Lane& lane = (timer != nullptr && events_.timers_thread ? timers_ : queue_).at(callback);
    state_of(callback).sink.store(&lane);
    state_of(callback).lane.store(&lane);
    if (timer != nullptr) {
      lane.add_timer(timer);
    }
  }

  void remove(Callback& callback) noexcept override {
    queue_.remove(callback);
    timers_.remove(callback);
  }

  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    queue_.remove_queued(callback, taken);
    timers_.remove_queued(callback, taken);
  }

  WorkerPool pool_of(const Callback& callback) const override {
    const bool is_timers = events_.timers_thread && callback.type() == EntityType::kTimer;
    return {.key = is_timers ? 1 : 0, .name = is_timers ? "the timers" : "the executor"};
  }

  void start() override {
    queue_.start(1);
    timers_.start(1);
  }
  void stop() noexcept override {
    queue_.stop();
    timers_.stop();
  }
  void wake() noexcept RCLRT_NONBLOCKING override {
    queue_.wake_all();
    timers_.wake_all();
  }

  /// Takes messages first, as rclcpp's executor does in spin_some.
  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    Instance* instance = queue_.try_pop(ready_by_ns);
    if (instance == nullptr) {
      instance = timers_.try_pop(ready_by_ns);
    }
    next_release_ns = std::min(queue_.next_release_ns(), timers_.next_release_ns());
    return instance;
  }

 private:
  const EventsOptions events_;
  LaneSet queue_;
  LaneSet timers_;  // has a lane only if timers have a thread of their own
};

}  // namespace

EventsExecutor::EventsExecutor(ExecutorOptions options, EventsOptions events)
    : Executor(
          Engine::with<EventsDispatcher>(on_one_thread(std::move(options), "events"), events)) {}

constinit const Kind kinds::kEvents{"events",
                                    &make_kind_with<EventsExecutor, &KindOptions::events>};

}  // namespace rclrt::executor
