// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/workshop_executor.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "kinds/kind.hpp"
#include "lane.hpp"
#include "lane_set.hpp"
#include "pi_lock.hpp"
#include "rclrt/realtime/thread.hpp"
#include "releaser.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

/// The pool of threads, and a lane for each level; the lanes have no workers of their own. If
/// callbacks run to completion (Preemption::kNever), there are workers that share one lane instead.
///
/// * `pool_` guards the set of levels, the number of threads of each level, and which idle thread
///   wakes up for timers. It has priority inheritance. Lanes' locks are taken while it is held,
///   never the other way round.
/// * An idle thread calls `prepare_wait` before it reads the lanes, so a later push wakes it. After
///   a thread has run a level, it checks that level once more, for instances that were pushed while
///   the level had as many threads as it may keep.
/// * While a lane has timers and a thread is idle, one idle thread sleeps at most until the next
///   timer release. When that thread takes work, it wakes another one.
class WorkshopDispatcher final : public Dispatcher {
 public:
  WorkshopDispatcher(const DispatcherContext& context, WorkshopOptions workshop)
      : Dispatcher(context, {}), workshop_(workshop), shared_(context, *this) {}

  void add(Callback& callback) override;
  void remove(Callback& callback) noexcept override;
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override;
  void apply_priorities() override;
  WorkerPool pool_of(const Callback& callback) const override {
    return has_workers() ? shared_.pool_of(callback)
                         : WorkerPool{.key = callback.level(),
                                      .threads = most_of_level(),
                                      .name = "priority " + std::to_string(callback.level())};
  }
  std::string stall_advice() const override {
    return "let a level have more workers (`workers_per_level`), or give what it waits for another "
           "priority.";
  }
  void start() override;
  void stop() noexcept override;
  void wake() noexcept RCLRT_NONBLOCKING override {
    idle().notify_all();
    shared_.wake_all();
  }
  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override;

 private:
  struct Level {
    Level(int with, realtime::EventCount& idle) : level(with), lane(Lane::Use::kRun, idle) {}
    const int level;
    std::atomic<int> kernel_priority{0};  // read by the threads before each instance
    Lane lane;
    std::size_t threads = 0;  // guarded by pool_
  };

  bool has_workers() const noexcept { return context().threads.runs_to_completion(); }
  std::size_t most_of_level() const noexcept {
    return context().threads.worker_count(context().threads.cpu_count());
  }
  /// Returns the priority of an idle thread; 0 without real time.
  int idle_priority() const noexcept {
    return context().threads.realtime() ? context().options.top_priority : 0;
  }
  realtime::EventCount& idle() const noexcept { return context().spin.caller_wakeup(); }
  Level& level_of(int level);
  std::size_t wanted_threads() const noexcept;
  void start_threads();
  void run(std::uint32_t slot) noexcept;
  Level* choose(bool& leads, std::int64_t& until_ns) noexcept;
  void run_level(Level& level, std::uint32_t slot, WorkerPriority& priority) noexcept;

  const WorkshopOptions workshop_;
  LaneSet shared_;  // has a lane only where callbacks run to completion
  PiLock pool_;
  std::vector<std::unique_ptr<Level>> levels_;  // descending; changed with the configuration, too
  bool has_leader_ = false;                     // guarded by pool_
  // Guarded by the configuration.
  std::vector<realtime::Thread> threads_;
  bool running_ = false;
};

WorkshopDispatcher::Level& WorkshopDispatcher::level_of(int level) {
  const auto place = std::ranges::lower_bound(levels_, level, std::greater{},
                                              [](const auto& each) { return each->level; });
  if (place != levels_.end() && (*place)->level == level) {
    return **place;
  }
  auto made = std::make_unique<Level>(level, idle());
  made->kernel_priority.store(thread_priority(level));
  Level& result = *made;
  const auto index = place - levels_.begin();
  std::vector<std::unique_ptr<Level>> more;
  more.reserve(levels_.size() + 1);  // allocates before the lock is taken
  const std::scoped_lock lock(pool_);
  std::move(levels_.begin(), levels_.end(), std::back_inserter(more));
  more.insert(more.begin() + index, std::move(made));
  levels_.swap(more);
  return result;
}

void WorkshopDispatcher::add(Callback& callback) {
  Lane& lane = has_workers() ? shared_.at(callback) : level_of(callback.level()).lane;
  if (running_ && !has_workers()) {
    start_threads();
  }
  state_of(callback).sink.store(&lane);
  state_of(callback).lane.store(&lane);
  if (TimerCallback* const timer = as_timer(callback)) {
    lane.add_timer(timer);
  }
}

void WorkshopDispatcher::remove(Callback& callback) noexcept {
  shared_.remove(callback);
  if (TimerCallback* const timer = as_timer(callback)) {
    for (const auto& each : levels_) {
      each->lane.remove_timer(timer);
    }
  }
}

void WorkshopDispatcher::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  shared_.remove_queued(callback, taken);
  for (const auto& each : levels_) {
    each->lane.remove_queued(callback, taken);
  }
}

/// Sets the priorities of the levels. A thread takes the new one before its next instance.
void WorkshopDispatcher::apply_priorities() {
  shared_.apply_priorities();
  for (const auto& each : levels_) {
    each->kernel_priority.store(thread_priority(each->level));
  }
}

std::size_t WorkshopDispatcher::wanted_threads() const noexcept {
  return workshop_.threads != 0 ? workshop_.threads : levels_.size() * most_of_level() + 1;
}

/// Starts the missing threads.
void WorkshopDispatcher::start_threads() {
  const std::size_t wanted = wanted_threads();
  threads_.reserve(wanted);
  while (threads_.size() < wanted) {
    const auto slot = static_cast<std::uint32_t>(threads_.size());
    threads_.emplace_back(
        context().threads.thread_options("p" + std::to_string(slot), idle_priority()),
        [this, slot] { run(slot); });
  }
}

void WorkshopDispatcher::start() {
  running_ = true;
  if (has_workers()) {
    shared_.start(most_of_level());
  } else {
    start_threads();
  }
}

void WorkshopDispatcher::stop() noexcept {
  shared_.stop();
  // Joined without the lock, because a callback may wait for it.
  std::vector<realtime::Thread> ending;
  const std::scoped_lock lock(context().callbacks.mutex());
  running_ = false;
  ending.swap(threads_);
}

Instance* WorkshopDispatcher::take_on_caller(std::int64_t ready_by_ns,
                                             std::int64_t& next_release_ns) noexcept {
  Instance* instance = shared_.try_pop(ready_by_ns);
  next_release_ns = shared_.next_release_ns();
  for (const auto& each : levels_) {
    if (instance == nullptr) {
      instance = each->lane.try_pop(ready_by_ns);
    }
    next_release_ns = std::min(next_release_ns, each->lane.next_release_ns());
  }
  return instance;
}

/// Returns the most urgent level that has work and room for one more thread, and counts the calling
/// thread as one of that level. If there is none, returns nullptr and sets the time until which the
/// idle thread sleeps. `leads`: the caller was the thread that wakes up for timers.
WorkshopDispatcher::Level* WorkshopDispatcher::choose(bool& leads,
                                                      std::int64_t& until_ns) noexcept {
  const std::scoped_lock lock(pool_);
  has_leader_ = has_leader_ && !std::exchange(leads, false);
  const std::size_t most = most_of_level();
  Level* chosen = nullptr;
  bool more = false;  // there is work for another thread
  std::int64_t next_ns = realtime::EventCount::kForever;
  for (const auto& each : levels_) {
    const bool waits = each->lane.has_waiting() && each->threads < most;
    if (waits && chosen == nullptr) {
      chosen = each.get();
      ++chosen->threads;
    } else {
      more = more || waits;
    }
    next_ns = std::min(next_ns, each->lane.next_release_ns());
  }
  if (chosen == nullptr) {
    leads = !has_leader_ && next_ns != realtime::EventCount::kForever;
    has_leader_ = has_leader_ || leads;
    until_ns = leads ? next_ns : realtime::EventCount::kForever;
  } else if (more || (!has_leader_ && next_ns != realtime::EventCount::kForever)) {
    idle().notify_one();
  }
  return chosen;
}

void WorkshopDispatcher::run_level(Level& level, std::uint32_t slot,
                                   WorkerPriority& priority) noexcept {
  priority.adopt(level.kernel_priority.load());
  while (!context().spin.stopping()) {
    Instance* const instance = level.lane.try_pop(INT64_MAX, priority);
    if (instance == nullptr) {
      break;
    }
    context().runner.execute(
        instance, {.slot = slot, .priority = priority.now(), .only_runs_instances = true},
        priority);
    priority.adopt(level.kernel_priority.load());
  }
  const std::scoped_lock lock(pool_);
  --level.threads;
}

void WorkshopDispatcher::run(std::uint32_t slot) noexcept {
  WorkerPriority priority(idle_priority());
  begin_releaser(priority);
  context().spin.await_start();
  bool leads = false;
  for (;;) {
    const auto key = idle().prepare_wait();
    std::int64_t until_ns = 0;
    Level* const level = choose(leads, until_ns);
    if (level == nullptr && !context().spin.stopping()) {
      idle().wait_until(key, until_ns);
      continue;
    }
    idle().cancel_wait();
    if (level != nullptr) {
      run_level(*level, slot, priority);
      priority.adopt(idle_priority());
    }
    if (context().spin.stopping()) {
      const std::scoped_lock lock(pool_);
      has_leader_ = has_leader_ && !leads;
      return;
    }
  }
}

}  // namespace

WorkshopExecutor::WorkshopExecutor(ExecutorOptions options, WorkshopOptions workshop)
    : Executor(Engine::with<WorkshopDispatcher>(std::move(options), workshop)) {}

constinit const Kind kinds::kWorkshop{"workshop",
                                      &make_kind_with<WorkshopExecutor, &KindOptions::workshop>};

}  // namespace rclrt::executor
