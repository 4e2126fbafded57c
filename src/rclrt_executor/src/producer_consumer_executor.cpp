// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/producer_consumer_executor.hpp"

#include <algorithm>
#include <utility>

#include "lane_set.hpp"

namespace rclrt::executor {

ProducerConsumerExecutor::ProducerConsumerExecutor(ExecutorOptions options)
    : Executor(std::move(options)),
      inbox_(std::make_unique<Lane>(Lane::Use::kPass, caller_wakeup())),
      queues_(std::make_unique<LaneSet>(*this)) {}

ProducerConsumerExecutor::~ProducerConsumerExecutor() { shut_down(); }

void ProducerConsumerExecutor::on_added(Callback& callback) {
  set_sinks(callback, inbox_.get(), &queues_->at(callback.level()));
  if (TimerCallback* const timer = as_timer(callback)) {
    inbox_->add_timer(timer);
  }
}

void ProducerConsumerExecutor::on_removed(Callback& callback) noexcept {
  if (TimerCallback* const timer = as_timer(callback)) {
    inbox_->remove_timer(timer);
  }
}

void ProducerConsumerExecutor::retime() noexcept { inbox_->retime(); }

void ProducerConsumerExecutor::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  inbox_->remove_queued(callback, taken);
  queues_->remove_queued(callback, taken);
}

Instance* ProducerConsumerExecutor::take_on_caller(std::int64_t ready_by_ns) noexcept {
  while (Instance* const instance = inbox_->try_pop(INT64_MAX)) {
    pass_on(instance);
  }
  return queues_->try_pop(ready_by_ns);
}

std::int64_t ProducerConsumerExecutor::next_release_ns() noexcept {
  return inbox_->next_release_ns();
}

void ProducerConsumerExecutor::pass_on(Instance* instance) noexcept RCLRT_NONBLOCKING {
  Callback& callback = *instance->callback;
  callback.pass_on(instance);
  unpin(callback);
}

void ProducerConsumerExecutor::settle_priorities() { queues_->settle_priorities(); }

void ProducerConsumerExecutor::start_threads() {
  queues_->start(std::max<std::size_t>(options().workers_per_level, 1));
  scheduler_ = realtime::Thread(thread_options("sched", options().top_priority), [this] {
    await_start();
    WorkerPriority priority;  // nothing runs here, so nothing is raised
    while (Instance* const instance = inbox_->pop(stop_flag(), priority)) {
      pass_on(instance);
    }
  });
}

void ProducerConsumerExecutor::stop_threads() noexcept {
  scheduler_.join();
  queues_->stop(configuration());
}

void ProducerConsumerExecutor::wake_threads() noexcept RCLRT_NONBLOCKING {
  inbox_->wake_all();
  queues_->wake_all();
}

}  // namespace rclrt::executor
