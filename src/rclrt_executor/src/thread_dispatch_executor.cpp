// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/thread_dispatch_executor.hpp"

#include <algorithm>
#include <utility>

#include "lane.hpp"

namespace rclrt::executor {

ThreadDispatchExecutor::ThreadDispatchExecutor(ExecutorOptions options)
    : Executor(std::move(options)) {}

ThreadDispatchExecutor::~ThreadDispatchExecutor() { shut_down(); }

void ThreadDispatchExecutor::do_prepare() {
  inbox_ = std::make_unique<Lane>(timers([](const Callback&) { return true; }));
  for (const auto& callback : callbacks()) {
    set_sink(*callback, inbox_.get());
  }
}

void ThreadDispatchExecutor::start_threads() {
  scheduler_ = realtime::Thread(thread_options("sched", options().top_priority), [this] {
    await_start();
    while (Instance* const instance = inbox_->pop(stop_flag())) {
      reap();
      dispatch(instance);
    }
  });
}

void ThreadDispatchExecutor::dispatch(Instance* instance) noexcept {
  const int level = instance->callback->level();
  try {
    if (idle_.empty()) {
      idle_.reserve(jobs_.size() + 1);  // reap() then never allocates
      idle_.push_back(&jobs_.emplace_back());
      idle_.back()->slot = static_cast<std::uint32_t>(jobs_.size() - 1);
    }
    Job* const job = idle_.back();
    job->thread =
        realtime::Thread(thread_options("L" + std::to_string(level), os_priority(level)),
                         [this, instance, job] {
                           execute(instance, job->slot);
                           // release: the scheduler that takes the job sees all the thread did.
                           job->next_finished = finished_.load(std::memory_order_relaxed);
                           while (!finished_.compare_exchange_weak(job->next_finished, job,
                                                                   std::memory_order_release,
                                                                   std::memory_order_relaxed)) {
                           }
                         });
    idle_.pop_back();
  } catch (...) {
    instance->callback->discard(instance);
    fail();
  }
}

void ThreadDispatchExecutor::reap() noexcept {
  bool any = false;
  for (Job* job = finished_.exchange(nullptr, std::memory_order_acquire); job != nullptr;) {
    Job* const next = job->next_finished;
    job->thread.join();  // it has only its last instructions left
    idle_.push_back(job);
    any = true;
    job = next;
  }
  if (any) {
    std::sort(idle_.begin(), idle_.end(), [](Job* a, Job* b) { return a->slot > b->slot; });
  }
}

void ThreadDispatchExecutor::stop_threads() noexcept {
  scheduler_.join();
  for (Job& job : jobs_) {
    job.thread.join();
  }
  reap();
}

void ThreadDispatchExecutor::wake_threads() noexcept RCLRT_NONBLOCKING { inbox_->wake_all(); }

}  // namespace rclrt::executor
