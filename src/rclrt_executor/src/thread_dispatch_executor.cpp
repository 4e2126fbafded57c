// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/thread_dispatch_executor.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "lane.hpp"

namespace rclrt::executor {

ThreadDispatchExecutor::ThreadDispatchExecutor(ExecutorOptions options)
    : Executor(std::move(options)),
      inbox_(std::make_unique<Lane>(Lane::Use::kPass, caller_wakeup())) {}

ThreadDispatchExecutor::~ThreadDispatchExecutor() { shut_down(); }

void ThreadDispatchExecutor::on_added(Callback& callback) {
  set_sinks(callback, inbox_.get(), inbox_.get());
  if (TimerCallback* const timer = as_timer(callback)) {
    inbox_->add_timer(timer);
  }
}

void ThreadDispatchExecutor::on_removed(Callback& callback) noexcept {
  if (TimerCallback* const timer = as_timer(callback)) {
    inbox_->remove_timer(timer);
  }
}

void ThreadDispatchExecutor::retime() noexcept { inbox_->retime(); }

void ThreadDispatchExecutor::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  inbox_->remove_queued(callback, taken);
}

Instance* ThreadDispatchExecutor::take_on_caller(std::int64_t ready_by_ns) noexcept {
  while (Instance* const instance = inbox_->try_pop(ready_by_ns)) {
    if (instance->callback->group().enter(instance)) {
      return instance;
    }
    unpin(*instance->callback);  // it comes back when its group is left
  }
  return nullptr;
}

std::int64_t ThreadDispatchExecutor::next_release_ns() noexcept {
  return inbox_->next_release_ns();
}

/// The C library gives the stack and the heap of a thread that has ended to the next one. Without
/// these threads each of the first instances would wait until the kernel has mapped, and in a
/// process that locks its memory filled, a stack: a millisecond and more.
void ThreadDispatchExecutor::warm_stacks() {
  constexpr std::size_t kMost = 16;  // MiB by default; the C library keeps 40
  realtime::ThreadOptions options = thread_options("warm", 0);
  options.scheduling.policy = realtime::Policy::kOther;
  std::vector<realtime::Thread> threads(std::min(locked_callbacks().size(), kMost));
  for (realtime::Thread& thread : threads) {
    thread = realtime::Thread(options, [](const realtime::StopFlag& stop) {
      ::operator delete(::operator new(64));  // makes the heap
      stop.wait();
    });
  }
}

void ThreadDispatchExecutor::start_threads() {
  if (realtime() && !std::exchange(has_warm_stacks_, true)) {
    warm_stacks();
  }
  scheduler_ = realtime::Thread(thread_options("sched", options().top_priority), [this] {
    await_start();
    WorkerPriority priority;  // nothing runs here, so nothing is raised
    while (Instance* const instance = inbox_->pop(stop_flag(), priority)) {
      reap();
      dispatch(instance);
    }
  });
}

void ThreadDispatchExecutor::dispatch(Instance* instance) noexcept {
  const int level = instance->callback->level();
  Job* job = nullptr;
  try {
    if (idle_.empty()) {
      idle_.reserve(jobs_.size() + 1);  // reap() then never allocates
      idle_.push_back(&jobs_.emplace_back());
      idle_.back()->slot = static_cast<std::uint32_t>(jobs_.size() - 1);
    }
    // Started at normal priority, raised, and only then let go: the kernel puts a thread that wakes
    // behind those of its priority, but one that is lowered (as pthread_create would from the
    // scheduler's priority) in front of them, and even of the callback that released it.
    realtime::ThreadOptions options = thread_options("L" + std::to_string(level), 0);
    options.scheduling.policy = realtime::Policy::kOther;
    idle_.back()->thread = realtime::Thread(options, [this, job = idle_.back()] { run(*job); });
    job = idle_.back();
    idle_.pop_back();
    if (realtime()) {
      job->thread.set_priority(realtime::Policy::kFifo, os_priority_of(*instance->callback).load());
    }
    job->instance = instance;
  } catch (...) {
    Callback& callback = *instance->callback;
    abandon(instance);
    unpin(callback);
    fail();
  }
  if (job != nullptr) {
    job->go.post();
  }
}

void ThreadDispatchExecutor::run(Job& job) noexcept {
  job.go.wait();
  if (Instance* const instance = std::exchange(job.instance, nullptr)) {
    Callback& callback = *instance->callback;
    const std::atomic<int> own(os_priority_of(callback).load());  // outlives the callback
    WorkerPriority priority(own);
    priority.raise_to(callback.group().ceiling());  // first: who is inside is never below it
    if (callback.group().enter(instance)) {
      execute(instance, job.slot, priority);
    } else {
      unpin(callback);  // another thread will run it
    }
  }
  // release: the scheduler that takes the job sees all the thread did.
  job.next_finished = finished_.load(std::memory_order_relaxed);
  while (!finished_.compare_exchange_weak(job.next_finished, &job, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

/// Never waits: a job that has finished may belong to a less urgent thread that was preempted just
/// before its end. It is then looked at again next time.
void ThreadDispatchExecutor::reap() noexcept {
  for (Job* job = finished_.exchange(nullptr, std::memory_order_acquire); job != nullptr;) {
    Job* const next = std::exchange(job->next_finished, ending_);
    ending_ = job;
    job = next;
  }
  bool any = false;
  for (Job** link = &ending_; *link != nullptr;) {
    Job* const job = *link;
    if (job->thread.try_join()) {
      *link = job->next_finished;
      idle_.push_back(job);
      any = true;
    } else {
      link = &job->next_finished;
    }
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
