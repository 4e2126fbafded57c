// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/workshop_executor.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "lane.hpp"
#include "rclrt/realtime/thread.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

/// One lane of all callbacks, the most urgent first, and the pool.
class WorkshopDispatcher final : public Dispatcher {
 public:
  WorkshopDispatcher(const DispatcherContext& context, WorkshopOptions workshop)
      : Dispatcher(context, {}),
        workshop_(workshop),
        lane_(Lane::Use::kRun, context.spin.caller_wakeup(), ReleaseQueue::Order::kByLevel) {}

  void add(Callback& callback) override {
    if (running_) {
      start_threads();
    }
    state_of(callback).sink.store(&lane_);
    state_of(callback).lane.store(&lane_);
    if (TimerCallback* const timer = as_timer(callback)) {
      lane_.add_timer(timer);
    }
  }
  void remove(Callback& callback) noexcept override {
    if (TimerCallback* const timer = as_timer(callback)) {
      lane_.remove_timer(timer);
    }
  }
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    lane_.remove_queued(callback, taken);
  }

  void start() override {
    idle_priority_.store(context().threads.realtime() && !has_workers()
                             ? context().options.top_priority
                             : thread_priority(0));
    running_ = true;
    start_threads();
  }
  void stop() noexcept override {
    std::vector<realtime::Thread> ending;
    {
      const std::scoped_lock lock(context().callbacks.mutex());
      running_ = false;
      ending.swap(threads_);
    }
    ending.clear();  // joins them without the lock, for a callback may wait for it
  }
  void wake() noexcept RCLRT_NONBLOCKING override { lane_.wake_all(); }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    Instance* const instance = lane_.try_pop(ready_by_ns);
    next_release_ns = lane_.next_release_ns();
    return instance;
  }

 private:
  bool has_workers() const noexcept { return context().threads.runs_to_completion(); }

  std::size_t wanted_threads() const {
    const std::size_t cpus = context().threads.cpu_count();
    if (has_workers()) {
      return context().threads.worker_count(cpus);
    }
    if (workshop_.threads != 0) {
      return workshop_.threads;
    }
    std::set<const Group*> groups;
    std::size_t count = cpus;
    for (const auto& callback : context().callbacks.locked()) {
      const Group& group = state_of(*callback).group;
      if (groups.insert(&group).second) {
        count += group.type() == GroupType::kReentrant ? cpus : 1;
      }
    }
    return count;
  }

  /// Starts those that it lacks.
  void start_threads() {
    const std::size_t wanted = wanted_threads();
    threads_.reserve(wanted);
    while (threads_.size() < wanted) {
      const auto slot = static_cast<std::uint32_t>(threads_.size());
      threads_.emplace_back(
          context().threads.thread_options("p" + std::to_string(slot), idle_priority_.load()),
          [this, slot] { run(slot); });
    }
  }

  void run(std::uint32_t slot) noexcept {
    context().spin.await_start();
    WorkerPriority priority(idle_priority_);
    while (Instance* const instance = lane_.pop(context().spin.stop_flag(), priority)) {
      Callback& callback = *instance->callback;
      if (!has_workers()) {
        priority.lower_to(
            std::max(state_of(callback).os_priority.load(), group_of(callback).ceiling()));
      }
      context().runner.execute(instance, {.slot = slot, .rank = priority.now()}, priority);
    }
  }

  const WorkshopOptions workshop_;
  Lane lane_;
  std::atomic<int> idle_priority_{0};  // of this spin: written while no thread runs
  // Guarded by the configuration.
  std::vector<realtime::Thread> threads_;
  bool running_ = false;
};

}  // namespace

WorkshopExecutor::WorkshopExecutor(ExecutorOptions options, WorkshopOptions workshop)
    : Executor(Engine::with<WorkshopDispatcher>(std::move(options), workshop)) {}

}  // namespace rclrt::executor
