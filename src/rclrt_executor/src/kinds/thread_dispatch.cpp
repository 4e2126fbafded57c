// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/thread_dispatch_executor.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane_set.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"
#include "scheduler_inbox.hpp"

namespace rclrt::executor {

namespace {

/// A scheduler thread with an inbox, which holds all timers, and a new thread for each instance. If
/// callbacks run to completion (Preemption::kNever), there are workers that share one lane instead.
class ThreadDispatcher final : public Dispatcher {
 public:
  explicit ThreadDispatcher(const DispatcherContext& context)
      : Dispatcher(context, {}), inbox_(context), shared_(context, *this) {}

  void add(Callback& callback) override {
    inbox_.add(callback, has_workers() ? shared_.at(callback) : inbox_.lane());
  }
  void remove(Callback& callback) noexcept override {
    inbox_.remove(callback);
    shared_.remove(callback);
  }

  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    inbox_.lane().remove_queued(callback, taken);
    shared_.remove_queued(callback, taken);
  }

  /// Returns the threads that may run `callback`. The pool is unlimited if each instance has a
  /// thread of its own, because no callback then lacks a thread.
  WorkerPool pool_of(const Callback& callback) const override {
    return has_workers() ? shared_.pool_of(callback) : WorkerPool{.threads = SIZE_MAX};
  }
  std::string stall_advice() const override { return shared_.stall_advice(); }

  void start() override;
  void stop() noexcept override;
  void wake() noexcept RCLRT_NONBLOCKING override {
    inbox_.lane().wake_all();
    shared_.wake_all();
  }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    if (has_workers()) {
      Instance* const instance = shared_.try_pop(ready_by_ns);
      next_release_ns = shared_.next_release_ns();
      return instance;
    }
    while (Instance* const instance = inbox_.lane().try_pop(ready_by_ns)) {
      detail::CallbackState& state = state_of(*instance->callback);
      if (Access::state(state.group).enter(instance)) {
        return instance;
      }
      state.unpin();  // it returns when the group is left
    }
    next_release_ns = inbox_.lane().next_release_ns();
    return nullptr;
  }

 private:
  struct Job {
    realtime::Thread thread;
    realtime::Semaphore go;        // posted once the thread has its priority
    Instance* instance = nullptr;  // set before go; nullptr: the thread only ends
    int kernel_priority = 0;       // the priority of the thread, set before go
    std::uint32_t slot = 0;
    Job* next_finished = nullptr;  // the link in finished_, then in ending_
  };

  bool has_workers() const noexcept { return context().threads.runs_to_completion(); }
  void warm_stacks();
  void dispatch(Instance* instance) noexcept;
  void run(Job& job) noexcept;
  void reap() noexcept;

  SchedulerInbox inbox_;
  LaneSet shared_;                // has no lane where each instance has a thread
  bool has_warm_stacks_ = false;  // of start
  // Only the scheduler thread uses jobs_, ending_ and idle_; after that thread has ended, `stop`
  // uses them.
  std::list<Job> jobs_;     // owns every job; never shrinks while spinning
  Job* ending_ = nullptr;   // jobs taken from finished_, with threads that are not joined yet
  std::vector<Job*> idle_;  // jobs with joined threads, the lowest slot last
  // Jobs with threads that only have to end: pushed by the thread, taken by the scheduler.
  std::atomic<Job*> finished_{nullptr};
};

/// Starts threads that touch their stack and heap, and end. The C library gives the stack and the
/// heap of an ended thread to the next one. Without these threads each of the first instances would
/// wait until the kernel has mapped a stack, and filled it in a process that locks its memory,
/// which takes a millisecond or more.
void ThreadDispatcher::warm_stacks() {
  constexpr std::size_t kMost = 16;  // MiB by default; the C library keeps 40
  realtime::ThreadOptions options = context().threads.thread_options("warm", 0);
  options.scheduling.policy = realtime::Policy::kOther;
  std::vector<realtime::Thread> threads(std::min(context().callbacks.locked().size(), kMost));
  for (realtime::Thread& thread : threads) {
    thread = realtime::Thread(options, [](const realtime::StopFlag& stop) { stop.wait(); });
  }
}

void ThreadDispatcher::start() {
  if (has_workers()) {
    shared_.start(context().threads.worker_count(1));
    return;
  }
  if (context().threads.realtime() && !std::exchange(has_warm_stacks_, true)) {
    warm_stacks();
  }
  inbox_.start([this](Instance* instance) noexcept {
    reap();
    dispatch(instance);
  });
}

void ThreadDispatcher::dispatch(Instance* instance) noexcept {
  const int level = instance->callback->level();
  Job* job = nullptr;
  try {
    if (idle_.empty()) {
      idle_.reserve(jobs_.size() + 1);  // reap() then never allocates
      idle_.push_back(&jobs_.emplace_back());
      idle_.back()->slot = static_cast<std::uint32_t>(jobs_.size() - 1);
    }
    // The thread starts at normal priority, is raised to its SCHED_FIFO priority, and runs the
    // instance only after `go`. The kernel puts a thread that wakes up behind the threads of its
    // priority. But it would put a lowered thread in front of them, even before the callback that
    // released the instance. With the default options, the thread would inherit the scheduler's
    // priority and would have to be lowered.
    realtime::ThreadOptions options =
        context().threads.thread_options("L" + std::to_string(level), 0);
    options.scheduling.policy = realtime::Policy::kOther;
    options.stack_prefault = options.heap_prefault = 0;  // `warm_stacks` has touched them
    idle_.back()->thread = realtime::Thread(options, [this, job = idle_.back()] { run(*job); });
    job = idle_.back();
    idle_.pop_back();
    // The priority is read only once: the level may change meanwhile, and the thread must compare
    // ceilings with the priority that it really has.
    job->kernel_priority = state_of(*instance->callback).kernel_priority.load();
    if (context().threads.realtime()) {
      job->thread.set_priority(realtime::Policy::kFifo, job->kernel_priority);
    }
    job->instance = instance;
  } catch (...) {
    Callback& callback = *instance->callback;
    InstanceRunner::abandon(instance);
    state_of(callback).unpin();
    context().spin.fail();
  }
  if (job != nullptr) {
    job->go.post();
  }
}

void ThreadDispatcher::run(Job& job) noexcept {
  job.go.wait();
  if (Instance* const instance = std::exchange(job.instance, nullptr)) {
    detail::CallbackState& state = state_of(*instance->callback);
    detail::GroupState& group = Access::state(state.group);
    WorkerPriority priority(job.kernel_priority);
    priority.raise_to(group.ceiling());  // first: the member inside is never below the ceiling
    if (group.enter(instance)) {
      context().runner.execute(instance, {.slot = job.slot, .priority = priority.now()}, priority);
    } else {
      state.unpin();  // another thread will run it
    }
  }
  // release: the scheduler that takes the job sees all writes of the thread.
  job.next_finished = finished_.load(std::memory_order_relaxed);
  while (!finished_.compare_exchange_weak(job.next_finished, &job, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

/// Joins the threads that have ended, without waiting. A finished job may belong to a less urgent
/// thread that was preempted just before its end. Such a thread is not joined; the next call checks
/// it again.
void ThreadDispatcher::reap() noexcept {
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

void ThreadDispatcher::stop() noexcept {
  inbox_.join();
  shared_.stop();
  for (Job& job : jobs_) {
    job.thread.join();
  }
  reap();
}

}  // namespace

ThreadDispatchExecutor::ThreadDispatchExecutor(ExecutorOptions options)
    : Executor(Engine::with<ThreadDispatcher>(std::move(options))) {}

constinit const Kind kinds::kThreadDispatch{"thread_dispatch", &make_kind<ThreadDispatchExecutor>};

}  // namespace rclrt::executor
