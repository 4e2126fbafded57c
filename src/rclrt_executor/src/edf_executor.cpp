// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/edf_executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "edf_queue.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

ExecutorOptions on_one_cpu(ExecutorOptions options) {
  if (options.cpus.size() > 1) {
    throw std::invalid_argument("executor \"" + options.name + "\": edf runs on one CPU, not on " +
                                std::to_string(options.cpus.size()) +
                                ": state one, and use an executor for each further CPU");
  }
  if (options.cpus.empty()) {
    options.cpus = {realtime::allowed_cpus().back()};  // interrupts tend to be on the first
  }
  return options;
}

}  // namespace

struct EdfExecutor::Worker {
  std::atomic<int> os_priority{0};  // read by the thread, which may have been moved
  realtime::Thread thread;
};

EdfExecutor::EdfExecutor(ExecutorOptions options)
    : Executor(on_one_cpu(std::move(options))),
      queue_(std::make_unique<EdfQueue>(caller_wakeup())) {}

EdfExecutor::~EdfExecutor() { shut_down(); }

std::int64_t EdfExecutor::relative_deadline_ns(Callback& callback) noexcept {
  if (callback.deadline_ns() != 0) {
    return std::min(callback.deadline_ns(), EdfQueue::kBackground);
  }
  if (TimerCallback* const timer = as_timer(callback)) {
    return std::min(timer->timer().period_ns, EdfQueue::kBackground);
  }
  return EdfQueue::kBackground;
}

std::int64_t EdfExecutor::ordering_deadline_ns(Callback& callback,
                                               std::int64_t release_ns) const noexcept {
  return EdfQueue::deadline_ns(release_ns, relative_deadline_ns(callback));
}

void EdfExecutor::on_added(Callback& callback) {
  const std::int64_t relative_ns = relative_deadline_ns(callback);
  ReadySink& deadline_class = queue_->deadline_class(relative_ns);
  settle_workers();
  Group& group = callback.group();
  group.set_deadline_ceiling(std::min(group.deadline_ceiling_ns(), relative_ns));
  set_sinks(callback, &deadline_class, &deadline_class);
  if (TimerCallback* const timer = as_timer(callback)) {
    queue_->add_timer(relative_ns, timer);
  }
}

void EdfExecutor::on_removed(Callback& callback) noexcept {
  if (TimerCallback* const timer = as_timer(callback)) {
    queue_->remove_timer(timer);
  }
  std::int64_t ceiling_ns = INT64_MAX;
  if (callback.shared_group()) {
    for (const auto& other : locked_callbacks()) {
      if (&other->group() == &callback.group()) {
        ceiling_ns = std::min(ceiling_ns, relative_deadline_ns(*other));
      }
    }
  }
  callback.group().set_deadline_ceiling(ceiling_ns);
}

void EdfExecutor::retime() noexcept { queue_->retime(); }

void EdfExecutor::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  queue_->remove_queued(callback, taken);
}

Instance* EdfExecutor::take_on_caller(std::int64_t ready_by_ns) noexcept {
  return queue_->try_pop_here(ready_by_ns);
}

void EdfExecutor::end_on_caller() noexcept { queue_->end_on_caller(); }

std::int64_t EdfExecutor::next_release_ns() noexcept { return queue_->next_release_ns(); }

/// One for each relative deadline, as far as the priorities reach.
std::size_t EdfExecutor::wanted_workers() const noexcept {
  return std::clamp<std::size_t>(queue_->band_count(), 1,
                                 static_cast<std::size_t>(options().top_priority - 1));
}

int EdfExecutor::worker_priority(std::size_t index) const noexcept {
  return options().top_priority - static_cast<int>(wanted_workers() - index);
}

int EdfExecutor::priority_of(int /*level*/) const noexcept { return worker_priority(0); }

/// Moves those there are, the lowest first, so that none overtakes another, and starts those that
/// lack. Throws std::system_error; the next call goes on.
void EdfExecutor::settle_workers() {
  if (!running_) {
    return;
  }
  for (std::size_t i = 0; i < workers_.size() && realtime(); ++i) {
    const int os_priority = worker_priority(i);
    if (workers_[i]->os_priority.exchange(os_priority) != os_priority) {
      workers_[i]->thread.set_priority(realtime::Policy::kFifo, os_priority);
    }
  }
  while (workers_.size() < wanted_workers()) {
    const std::size_t index = workers_.size();
    auto worker = std::make_unique<Worker>();
    worker->os_priority.store(realtime() ? worker_priority(index) : 0);
    workers_.reserve(index + 1);
    worker->thread =
        realtime::Thread(thread_options("edf" + std::to_string(index), worker->os_priority.load()),
                         [this, index, &own = worker->os_priority] {
                           await_start();
                           WorkerPriority priority(own);
                           while (Instance* const instance = queue_->pop(index, stop_flag())) {
                             execute(instance, static_cast<std::uint32_t>(index), priority);
                           }
                         });
    workers_.push_back(std::move(worker));
    queue_->set_workers(workers_.size());
  }
}

void EdfExecutor::start_threads() {
  running_ = true;
  settle_workers();
}

void EdfExecutor::stop_threads() noexcept {
  std::vector<std::unique_ptr<Worker>> ending;
  {
    const std::scoped_lock lock(configuration());
    running_ = false;
    ending.swap(workers_);
  }
  ending.clear();  // joins; without the lock, for a callback may wait for it
}

void EdfExecutor::wake_threads() noexcept RCLRT_NONBLOCKING { queue_->wake_all(); }

}  // namespace rclrt::executor
