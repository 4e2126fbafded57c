// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/edf_executor.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "edf_queue.hpp"
#include "engine.hpp"
#include "kinds/kind.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

ExecutorOptions on_one_cpu(ExecutorOptions options) {
  if (options.cpus.size() > 1) {
    throw std::invalid_argument("executor \"" + options.name + "\": edf runs on one CPU, not on " +
                                std::to_string(options.cpus.size()) +
                                ": state one CPU, and use an executor for each further CPU");
  }
  if (options.cpus.empty()) {
    options.cpus = {realtime::allowed_cpus().back()};  // interrupts are often on the first CPU
  }
  return options;
}

std::int64_t relative_deadline_ns(Callback& callback) noexcept {
  if (callback.deadline_ns() != 0) {
    return std::min(callback.deadline_ns(), EdfQueue::kBackground);
  }
  if (TimerCallback* const timer = as_timer(callback)) {
    return std::min(timer->timer().period_ns, EdfQueue::kBackground);
  }
  return EdfQueue::kBackground;
}

/// A stack of workers over one queue in order of deadline.
class EdfDispatcher final : public Dispatcher {
 public:
  explicit EdfDispatcher(const DispatcherContext& context)
      : Dispatcher(context, {.maps_levels = false}), queue_(context.spin.caller_wakeup()) {}

  void add(Callback& callback) override;
  void remove(Callback& callback) noexcept override;
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    queue_.remove_queued(callback, taken);
  }
  int kernel_priority(int /*level*/) const noexcept override { return worker_priority(0); }

  WorkerPool pool_of(const Callback& /*callback*/) const override { return {.threads = 0}; }
  std::string stall_advice() const override {
    return context().threads.runs_to_completion()
               ? "give the client an executor of its own, or let callbacks preempt "
                 "(Preemption::kAlways) and what it waits for have a shorter deadline."
               : "give what it waits for a shorter deadline.";
  }

  void start() override {
    running_ = true;
    update_workers();
  }
  void stop() noexcept override;
  void wake() noexcept RCLRT_NONBLOCKING override { queue_.wake_all(); }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    Instance* const instance = queue_.try_pop_on_caller(ready_by_ns);
    next_release_ns = queue_.next_release_ns();
    return instance;
  }
  void end_on_caller() noexcept override { queue_.end_on_caller(); }

 private:
  struct Worker {
    explicit Worker(int kernel_priority) noexcept : priority(kernel_priority) {}
    WorkerPriority priority;
    realtime::Thread thread;  // destroyed first
  };

  std::size_t wanted_workers() const noexcept;
  int worker_priority(std::size_t index) const noexcept;
  void update_workers();
  void run(std::size_t index, WorkerPriority& priority) noexcept;

  EdfQueue queue_;
  // Guarded by the configuration.
  std::vector<std::unique_ptr<Worker>> workers_;  // from the bottom of the stack
  bool running_ = false;
};

void EdfDispatcher::add(Callback& callback) {
  const std::int64_t relative_ns = relative_deadline_ns(callback);
  detail::ReadySink& deadline_class = queue_.deadline_class(relative_ns);
  update_workers();
  detail::GroupState& group = group_of(callback);
  group.set_deadline_ceiling(std::min(group.deadline_ceiling_ns(), relative_ns));
  detail::CallbackState& state = state_of(callback);
  state.ordering_deadline_ns.store(relative_ns, std::memory_order_relaxed);  // publishes no data
  state.sink.store(&deadline_class);
  state.lane.store(&deadline_class);
  if (TimerCallback* const timer = as_timer(callback)) {
    queue_.add_timer(relative_ns, timer);
  }
}

void EdfDispatcher::remove(Callback& callback) noexcept {
  if (TimerCallback* const timer = as_timer(callback)) {
    queue_.remove_timer(timer);
  }
  std::int64_t ceiling_ns = INT64_MAX;
  if (callback.shared_group()) {
    for (const auto& other : context().callbacks.locked()) {
      if (&other->group() == &callback.group()) {
        ceiling_ns = std::min(ceiling_ns, relative_deadline_ns(*other));
      }
    }
  }
  group_of(callback).set_deadline_ceiling(ceiling_ns);
}

/// Returns the number of workers that the executor needs: one for each distinct relative deadline,
/// limited by the number of SCHED_FIFO priorities. If no instance preempts another, one.
std::size_t EdfDispatcher::wanted_workers() const noexcept {
  if (context().threads.runs_to_completion()) {
    return 1;
  }
  return std::clamp<std::size_t>(queue_.class_count(), 1,
                                 static_cast<std::size_t>(context().options.top_priority - 1));
}

int EdfDispatcher::worker_priority(std::size_t index) const noexcept {
  return context().options.top_priority - static_cast<int>(wanted_workers() - index);
}

/// Changes the priorities of existing workers, the lowest worker first, so that none is above a
/// higher worker meanwhile. Then starts missing workers. Throws std::system_error; the next call
/// continues.
void EdfDispatcher::update_workers() {
  if (!running_) {
    return;
  }
  const bool realtime = context().threads.realtime();
  for (std::size_t i = 0; i < workers_.size() && realtime; ++i) {
    workers_[i]->priority.move_to(worker_priority(i), workers_[i]->thread);
  }
  while (workers_.size() < wanted_workers()) {
    const std::size_t index = workers_.size();
    const int kernel_priority = realtime ? worker_priority(index) : 0;
    auto worker = std::make_unique<Worker>(kernel_priority);
    workers_.reserve(index + 1);
    worker->thread = realtime::Thread(
        context().threads.thread_options("edf" + std::to_string(index), kernel_priority),
        [this, index, &own = worker->priority] { run(index, own); });
    workers_.push_back(std::move(worker));
    queue_.set_workers(workers_.size());
  }
}

void EdfDispatcher::run(std::size_t index, WorkerPriority& priority) noexcept {
  context().spin.await_start();
  // The place in the stack serves as the priority: it is constant, and exists without real time.
  const InstanceRunner::Worker worker{.slot = static_cast<std::uint32_t>(index),
                                      .priority = static_cast<int>(index),
                                      .only_runs_instances = true};
  while (Instance* const instance = queue_.pop(index, context().spin.stop_flag())) {
    context().runner.execute(instance, worker, priority);
  }
}

void EdfDispatcher::stop() noexcept {
  std::vector<std::unique_ptr<Worker>> ending;
  {
    const std::scoped_lock lock(context().callbacks.mutex());
    running_ = false;
    ending.swap(workers_);
  }
  ending.clear();  // joins; without the lock, because a callback may wait for it
}

}  // namespace

EdfExecutor::EdfExecutor(ExecutorOptions options)
    : Executor(Engine::with<EdfDispatcher>(on_one_cpu(std::move(options)))) {}

constinit const Kind kinds::kEdf{"edf", &make_kind<EdfExecutor>};

}  // namespace rclrt::executor
