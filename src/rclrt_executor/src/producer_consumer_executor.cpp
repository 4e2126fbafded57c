// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/producer_consumer_executor.hpp"

#include <algorithm>
#include <utility>

#include "engine.hpp"
#include "lane_set.hpp"

namespace rclrt::executor {

namespace {

/// A scheduler thread with an inbox, which holds all timers, and a lane of consumers for each
/// level.
class ProducerConsumerDispatcher final : public Dispatcher {
 public:
  explicit ProducerConsumerDispatcher(const DispatcherContext& context)
      : Dispatcher(context, {.offers_reservations = true}),
        inbox_(Lane::Use::kPass, context.spin.caller_wakeup()),
        queues_(context, *this) {}

  void add(Callback& callback) override {
    state_of(callback).sink.store(&inbox_);
    state_of(callback).lane.store(&queues_.at(callback.level()));
    if (TimerCallback* const timer = as_timer(callback)) {
      inbox_.add_timer(timer);
    }
  }

  void remove(Callback& callback) noexcept override {
    if (TimerCallback* const timer = as_timer(callback)) {
      inbox_.remove_timer(timer);
    }
  }

  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    inbox_.remove_queued(callback, taken);
    queues_.remove_queued(callback, taken);
  }

  void settle_priorities() override { queues_.settle_priorities(); }

  void start() override {
    queues_.start(std::max<std::size_t>(context().options.workers_per_level, 1));
    scheduler_ = realtime::Thread(
        context().threads.thread_options("sched", context().options.top_priority), [this] {
          context().spin.await_start();
          WorkerPriority priority;  // nothing runs here, so nothing is raised
          while (Instance* const instance = inbox_.pop(context().spin.stop_flag(), priority)) {
            pass_on(instance);
          }
        });
  }

  void stop() noexcept override {
    scheduler_.join();
    queues_.stop();
  }

  void wake() noexcept RCLRT_NONBLOCKING override {
    inbox_.wake_all();
    queues_.wake_all();
  }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    while (Instance* const instance = inbox_.try_pop(INT64_MAX)) {
      pass_on(instance);
    }
    next_release_ns = inbox_.next_release_ns();
    return queues_.try_pop(ready_by_ns);
  }

 private:
  static void pass_on(Instance* instance) noexcept RCLRT_NONBLOCKING {
    detail::CallbackState& state = state_of(*instance->callback);
    state.lane.load()->submit(instance);
    state.unpin();
  }

  Lane inbox_;  // what the scheduler thread consumes
  LaneSet queues_;
  realtime::Thread scheduler_;
};

}  // namespace

ProducerConsumerExecutor::ProducerConsumerExecutor(ExecutorOptions options)
    : Executor(Engine::with<ProducerConsumerDispatcher>(std::move(options))) {}

}  // namespace rclrt::executor
