// SPDX-License-Identifier: Apache-2.0
#include "lane_set.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include "callback_set.hpp"
#include "instance_runner.hpp"
#include "spin_state.hpp"
#include "thread_settings.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

Lane& LaneSet::at(int level) {
  const bool shares = context_.threads.runs_to_completion();
  level = shares ? kAll : level;
  auto place = std::lower_bound(levels_.begin(), levels_.end(), level,
                                [](const auto& each, int value) { return each->level < value; });
  if (place == levels_.end() || (*place)->level != level) {
    auto made = std::make_unique<Level>(level, context_.spin.caller_wakeup(),
                                        shares ? shared_.order : ReleaseQueue::Order::kByRelease);
    made->os_priority.store(dispatcher_.thread_priority(level));
    place = levels_.insert(place, std::move(made));
    // Before its workers exist, so that a cancel that they did not see wakes them.
    lanes_[levels_.size() - 1].store(&(*place)->lane);
  }
  start_workers(**place);
  return (*place)->lane;
}

void LaneSet::remove(Callback& callback) noexcept {
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

void LaneSet::settle_priorities() {
  for (const auto& each : levels_) {
    const int os_priority = dispatcher_.thread_priority(each->level);
    if (each->os_priority.exchange(os_priority) != os_priority) {
      for (realtime::Thread& worker : each->workers) {
        worker.set_priority(realtime::Policy::kFifo, os_priority);
      }
    }
  }
}

void LaneSet::start_workers(Level& level) {
  // A reservation is one thread's: more workers would be more budgets.
  const ThreadSettings& threads = context_.threads;
  const std::size_t wanted = threads.is_reserved(level.level) && !threads.runs_to_completion()
                                 ? std::min<std::size_t>(workers_per_lane_, 1)
                                 : workers_per_lane_;
  while (level.workers.size() < wanted) {
    const auto slot = shared_.first_slot + static_cast<std::uint32_t>(level.workers.size());
    level.workers.emplace_back(worker_options(level), [this, &level, slot] {
      context_.spin.await_start();
      const ThreadSettings& settings = context_.threads;
      WorkerPriority priority(level.os_priority,
                              settings.realtime() && settings.is_best_effort(level.level));
      while (Instance* const instance = level.lane.pop(context_.spin.stop_flag(), priority)) {
        context_.runner.execute(instance,
                                {.slot = slot, .rank = priority.now(), .only_runs_instances = true},
                                priority);
      }
    });
  }
}

realtime::ThreadOptions LaneSet::worker_options(const Level& level) const {
  const ThreadSettings& threads = context_.threads;
  const int os_priority = dispatcher_.thread_priority(level.level);
  return threads.runs_to_completion() ? threads.thread_options(shared_.name, os_priority)
                                      : threads.level_thread_options(level.level, os_priority);
}

void LaneSet::start(std::size_t workers_per_lane) {
  workers_per_lane_ = workers_per_lane;
  for (const auto& each : levels_) {
    start_workers(*each);
  }
}

void LaneSet::stop() noexcept RCLRT_WAITS {
  std::vector<realtime::Thread> threads;
  {
    const std::scoped_lock lock(context_.callbacks.mutex());
    workers_per_lane_ = 0;
    for (const auto& each : levels_) {
      std::move(each->workers.begin(), each->workers.end(), std::back_inserter(threads));
      each->workers.clear();
    }
  }
  threads.clear();
}

void LaneSet::wake_all() noexcept RCLRT_NONBLOCKING {
  for (const auto& slot : lanes_) {
    Lane* const lane = slot.load();
    if (lane == nullptr) {
      return;
    }
    lane->wake_all();
  }
}

}  // namespace rclrt::executor
