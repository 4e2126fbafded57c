// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/producer_consumer_executor.hpp"

#include <algorithm>
#include <utility>

#include "lane.hpp"

namespace rclrt::executor {

ProducerConsumerExecutor::ProducerConsumerExecutor(ExecutorOptions options)
    : Executor(std::move(options)) {}

ProducerConsumerExecutor::~ProducerConsumerExecutor() { shut_down(); }

void ProducerConsumerExecutor::do_prepare() {
  inbox_ = std::make_unique<Lane>(Lane::Use::kPass, timers([](const Callback&) { return true; }));
  for (std::size_t i = 0; i < priorities().levels().size(); ++i) {
    queues_.push_back(std::make_unique<Lane>(Lane::Use::kRun, std::vector<TimerCallback*>{}));
  }
  for (const auto& callback : callbacks()) {
    set_sinks(*callback, inbox_.get(), queues_[priorities().index(callback->level())].get());
  }
}

void ProducerConsumerExecutor::start_threads() {
  const std::size_t workers = std::max<std::size_t>(options().workers_per_level, 1);
  threads_.reserve(queues_.size() * workers + 1);
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const int level = priorities().levels()[i];
    const int own = os_priority(level);
    for (std::uint32_t slot = 0; slot < workers; ++slot) {
      threads_.emplace_back(thread_options("L" + std::to_string(level), own),
                            [this, queue = queues_[i].get(), slot, own] {
                              await_start();
                              WorkerPriority priority(own);
                              while (Instance* const instance = queue->pop(stop_flag(), priority)) {
                                execute(instance, slot, priority);
                              }
                            });
    }
  }
  threads_.emplace_back(thread_options("sched", options().top_priority), [this] {
    await_start();
    WorkerPriority priority(0);  // nothing runs here, so nothing is raised
    while (Instance* const instance = inbox_->pop(stop_flag(), priority)) {
      queues_[priorities().index(instance->callback->level())]->submit(instance);
    }
  });
}

void ProducerConsumerExecutor::stop_threads() noexcept { threads_.clear(); }

void ProducerConsumerExecutor::wake_threads() noexcept RCLRT_NONBLOCKING {
  inbox_->wake_all();
  for (const auto& queue : queues_) {
    queue->wake_all();
  }
}

}  // namespace rclrt::executor
