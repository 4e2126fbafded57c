// SPDX-License-Identifier: Apache-2.0
#include "lane_set.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "callback_set.hpp"
#include "spin_state.hpp"
#include "thread_settings.hpp"

namespace rclrt::executor {

Lane& LaneSet::at(const Callback& callback) {
  const bool shares = context_.threads.runs_to_completion();
  const int level = shares ? kAll : callback.level();
  auto place = std::lower_bound(levels_.begin(), levels_.end(), level,
                                [](const auto& each, int value) { return each->level < value; });
  if (place == levels_.end() || (*place)->level != level) {
    const ThreadSettings& threads = context_.threads;
    // A best-effort level has at least two workers.
    const std::size_t most = std::max<std::size_t>(threads.most_workers(), 2);
    auto made =
        std::make_unique<Level>(level, context_.spin.caller_wakeup(),
                                shares ? shared_.order : ReleaseQueue::Order::kByRelease, most);
    place = levels_.insert(place, std::move(made));
    // Published before its workers exist, so that a cancel that they did not see wakes them.
    (*place)->before = newest_.load(std::memory_order_relaxed);  // only changed by this function
    newest_.store(place->get(), std::memory_order_release);      // PAIRS WITH: wake_all
  }
  Level& found = **place;
  // An instance of a callback that was removed from the level, or moved away, may still run there.
  const bool comes = state_of(callback).lane.load() != &found.lane;
  found.wanted = std::min(stated_workers(found),
                          std::max(found.wanted + (comes ? 1 : 0), useful_workers(found)));
  start_threads(found);
  return found.lane;
}

void LaneSet::remove(Callback& callback) noexcept {
  for (const auto& each : levels_) {
    each->was_left |= state_of(callback).lane.load() == &each->lane;
  }
  if (TimerCallback* const timer = as_timer(callback)) {
    for (const auto& each : levels_) {
      each->lane.remove_timer(timer);
    }
  }
}

void LaneSet::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  for (const auto& each : levels_) {
    each->lane.remove_queued(callback, taken);
  }
}

Instance* LaneSet::try_pop(std::int64_t ready_by_ns) noexcept RCLRT_WAITS {
  for (auto each = levels_.rbegin(); each != levels_.rend(); ++each) {
    if (Instance* const instance = (*each)->lane.try_pop(ready_by_ns)) {
      return instance;
    }
  }
  return nullptr;
}

std::int64_t LaneSet::next_release_ns() noexcept RCLRT_WAITS {
  std::int64_t next_ns = INT64_MAX;
  for (const auto& each : levels_) {
    next_ns = std::min(next_ns, each->lane.next_release_ns());
  }
  return next_ns;
}

void LaneSet::apply_priorities() {
  for (const auto& each : levels_) {
    const int kernel_priority = dispatcher_.thread_priority(each->level);
    each->lane.set_urgency(urgency_of(*each));
    for (const auto& thread : each->threads) {
      thread->move_to(kernel_priority);
    }
  }
}

WorkerPool LaneSet::pool_of(const Callback& callback) const {
  const bool shares = context_.threads.runs_to_completion();
  WorkerPool pool;
  if (!shares) {
    pool.key = callback.level();
    pool.name = "priority " + std::to_string(callback.level());
  }
  const auto level = std::ranges::find(levels_, shares ? kAll : callback.level(),
                                       [](const auto& each) { return each->level; });
  if (level != levels_.end()) {
    // A level may have fewer workers than are stated. It then waits for a group, not for a worker.
    const Level& found = **level;
    pool.threads =
        found.threads.size() - found.workers + std::max(found.workers, stated_workers(found));
  }
  return pool;
}

std::string LaneSet::stall_advice() const {
  const bool may_have_spares = context_.options.preemption != Preemption::kNever;
  const std::string more =
      may_have_spares && context_.options.workers_per_level != 0
          ? "let the executor have more workers (`workers_per_level`), or leave "
            "the number out: then spare ones stand in"
          : "let the executor have more workers (`workers_per_level`)";
  return context_.threads.runs_to_completion()
             ? more + "."
             : "give the callback that it waits for a different priority, or " + more + ".";
}

/// Returns the number of workers that the options state for a level.
std::size_t LaneSet::stated_workers(const Level& level) const {
  const ThreadSettings& threads = context_.threads;
  if (threads.runs_to_completion()) {
    return workers_per_lane_;
  }
  if (threads.is_reserved(level.level)) {
    // A reservation belongs to one thread: more workers would have more budgets.
    return std::min<std::size_t>(workers_per_lane_, 1);
  }
  // The kernel shares a CPU among threads of normal scheduling. So with two workers a short
  // callback does not wait for a long one. (rclcpp's MultiThreadedExecutor has at least two threads
  // as well.)
  const bool shares_cpus = threads.realtime() && threads.is_best_effort(level.level) &&
                           context_.options.workers_per_level == 0;
  return shares_cpus && workers_per_lane_ != 0 ? std::max<std::size_t>(workers_per_lane_, 2)
                                               : workers_per_lane_;
}

std::vector<const Callback*> LaneSet::callbacks_of(const Level& level) const {
  const bool shares = context_.threads.runs_to_completion();
  std::vector<const Callback*> callbacks;
  for (const auto& each : context_.callbacks.locked()) {
    if (shares || each->level() == level.level) {
      callbacks.push_back(each.get());
    }
  }
  return callbacks;
}

/// Returns how many workers can have work at the same time, but at most as many as are stated. More
/// would lock the memory of their stacks for nothing.
std::size_t LaneSet::useful_workers(const Level& level) const {
  const std::size_t stated = stated_workers(level);
  if (stated <= 1) {
    return stated;
  }
  const std::vector<const Callback*> callbacks = callbacks_of(level);
  const bool is_unlimited = std::ranges::any_of(callbacks, [](const Callback* each) {
    return each->group().type() == GroupType::kReentrant;
  });
  return is_unlimited ? stated : std::max<std::size_t>(most_at_a_time(callbacks, stated), 1);
}

/// Returns the SCHED_FIFO priority by which the level's workers preempt others. 0: they do not, or
/// all run on one CPU.
int LaneSet::urgency_of(const Level& level) const {
  const ThreadSettings& threads = context_.threads;
  return threads.runs_to_completion() || threads.cpu_count() < 2
             ? 0
             : dispatcher_.thread_priority(level.level);
}

/// Returns whether the level has a worker asleep on each of several CPUs. A short spin would start
/// and end them for nothing.
bool LaneSet::sleeps_on_each_cpu(const Level& level) const {
  return sleepers_ == Sleepers::kOnEachCpu && context_.options.workers_per_level == 0 &&
         level.wanted != 0 && context_.spin.limit() == SpinLimit::kNone && urgency_of(level) != 0;
}

/// Returns the number of the level's workers. With one asleep on each CPU, a release wakes a worker
/// of its own CPU, which costs no interrupt of another CPU; see LaneSleepers.
std::size_t LaneSet::wanted_workers(const Level& level) const {
  const std::size_t wanted = sleeps_on_each_cpu(level)
                                 ? with_sleepers(level.wanted, context_.threads.cpu_count())
                                 : level.wanted;
  return std::min(wanted, level.most_workers);
}

/// Returns the CPU on which the level's next worker begins; -1: on any. While the executor runs, no
/// worker is moved: it might have to wait there for a more urgent callback.
int LaneSet::start_cpu(const Level& level) const {
  if (context_.spin.is_gate_open() || !sleeps_on_each_cpu(level)) {
    return -1;
  }
  const std::vector<int> cpus =
      context_.options.cpus.empty() ? realtime::allowed_cpus() : context_.options.cpus;
  // Each level begins at another CPU, so that not all workers sleep on the first ones.
  const auto place =
      std::ranges::find(levels_, &level, [](const auto& each) { return each.get(); });
  return cpus[(static_cast<std::size_t>(place - levels_.begin()) + level.workers) % cpus.size()];
}

/// Returns the number of spare threads; 0 where no callback could use one.
std::size_t LaneSet::wanted_spares(const Level& level) const {
  const ThreadSettings& threads = context_.threads;
  const std::size_t spares = threads.spare_count();
  if (spares == 0 || level.wanted == 0 || context_.spin.limit() != SpinLimit::kNone ||
      (!threads.runs_to_completion() && threads.is_reserved(level.level))) {
    return 0;
  }
  return std::max(most_at_a_time(callbacks_of(level), level.wanted + spares), level.wanted) -
         level.wanted;
}

void LaneSet::start_threads(Level& level) {
  const std::size_t workers = wanted_workers(level);
  while (level.workers < workers && start_worker(level)) {
  }
  // Last: a release relies on as many workers as that.
  level.lane.set_limit(std::max<std::size_t>(std::min(level.wanted, level.workers), 1));
  const std::size_t all = level.workers + wanted_spares(level);
  while (level.threads.size() < all) {
    start_thread(level, LaneWorker::Kind::kSpare);
  }
}

/// Starts a worker. Returns false if that failed and the worker is only for shorter wake-ups.
bool LaneSet::start_worker(Level& level) {
  try {
    start_thread(level, LaneWorker::Kind::kWorker);
  } catch (const std::system_error&) {
    if (level.workers < level.wanted) {
      throw;
    }
    return false;
  }
  ++level.workers;
  return true;
}

void LaneSet::start_thread(Level& level, LaneWorker::Kind kind) {
  const ThreadSettings& threads = context_.threads;
  level.lane.set_urgency(urgency_of(level));
  const auto slot = shared_.first_slot + static_cast<std::uint32_t>(level.threads.size());
  level.threads.reserve(level.threads.size() + 1);
  level.threads.push_back(
      std::make_unique<LaneThread>(context_, level.lane, kind, worker_options(level), slot,
                                   threads.realtime() && threads.is_best_effort(level.level),
                                   kind == LaneWorker::Kind::kWorker ? start_cpu(level) : -1));
}

realtime::ThreadOptions LaneSet::worker_options(const Level& level) const {
  const ThreadSettings& threads = context_.threads;
  const int kernel_priority = dispatcher_.thread_priority(level.level);
  return threads.runs_to_completion() ? threads.thread_options(shared_.name, kernel_priority)
                                      : threads.level_thread_options(level.level, kernel_priority);
}

void LaneSet::start(std::size_t workers_per_lane) {
  workers_per_lane_ = workers_per_lane;
  for (const auto& each : levels_) {
    each->was_left &= each->lane.has_waiting();
    each->wanted = each->was_left ? stated_workers(*each) : useful_workers(*each);
    start_threads(*each);
  }
}

void LaneSet::stop() noexcept RCLRT_WAITS {
  std::vector<std::unique_ptr<LaneThread>> threads;
  {
    const std::scoped_lock lock(context_.callbacks.mutex());
    workers_per_lane_ = 0;
    for (const auto& each : levels_) {
      std::move(each->threads.begin(), each->threads.end(), std::back_inserter(threads));
      each->threads.clear();
      each->workers = each->wanted = 0;
    }
  }
  for (const auto& each : threads) {  // all, before one is freed: spares read the others
    each->join();
  }
  threads.clear();
  const std::scoped_lock lock(context_.callbacks.mutex());
  for (const auto& each : levels_) {
    each->lane.forget_workers();
  }
}

void LaneSet::wake_all() noexcept RCLRT_NONBLOCKING {
  for (Level* each = newest_.load(std::memory_order_acquire);  // PAIRS WITH: at
       each != nullptr; each = each->before) {
    each->lane.wake_all();
  }
}

}  // namespace rclrt::executor
