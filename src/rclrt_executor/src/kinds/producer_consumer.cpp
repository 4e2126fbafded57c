// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/producer_consumer_executor.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane_set.hpp"
#include "scheduler_inbox.hpp"

namespace rclrt::executor {

namespace {

/// A scheduler thread with an inbox, which holds all timers and all ready instances, and a lane
/// with consumer threads for each level.
class ProducerConsumerDispatcher final : public Dispatcher {
 public:
  explicit ProducerConsumerDispatcher(const DispatcherContext& context)
      : Dispatcher(context, {.keeps_level_threads = true}),
        inbox_(context),
        queues_(context, *this) {}

  void add(Callback& callback) override { inbox_.add(callback, queues_.at(callback)); }
  void remove(Callback& callback) noexcept override {
    inbox_.remove(callback);
    queues_.remove(callback);
  }

  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    inbox_.lane().remove_queued(callback, taken);
    queues_.remove_queued(callback, taken);
  }

  void apply_priorities() override { queues_.apply_priorities(); }

  WorkerPool pool_of(const Callback& callback) const override { return queues_.pool_of(callback); }
  std::string stall_advice() const override { return queues_.stall_advice(); }

  void start() override {
    queues_.start(context().threads.worker_count(1));
    inbox_.start(&SchedulerInbox::pass_on);
  }

  void stop() noexcept override {
    inbox_.join();
    queues_.stop();
  }

  void wake() noexcept RCLRT_NONBLOCKING override {
    inbox_.lane().wake_all();
    queues_.wake_all();
  }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    const std::int64_t inbox_ns = inbox_.pass_all_on();
    Instance* const instance = queues_.try_pop(ready_by_ns);
    next_release_ns = std::min(inbox_ns, queues_.next_release_ns());
    return instance;
  }

 private:
  SchedulerInbox inbox_;
  LaneSet queues_;
};

}  // namespace

ProducerConsumerExecutor::ProducerConsumerExecutor(ExecutorOptions options)
    : Executor(Engine::with<ProducerConsumerDispatcher>(std::move(options))) {}

constinit const Kind kinds::kProducerConsumer{"producer_consumer",
                                              &make_kind<ProducerConsumerExecutor>};

}  // namespace rclrt::executor
