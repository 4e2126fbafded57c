// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_watch.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rclrt/realtime/periodic_drain.hpp"

namespace rclrt::realtime {

namespace {

/// Returns the threads of `now` that were not the same in `before`.
template <typename Thread>
std::vector<Thread> changed(const std::vector<Thread>& before, const std::vector<Thread>& now) {
  std::vector<Thread> result;
  std::copy_if(now.begin(), now.end(), std::back_inserter(result), [&](const Thread& each) {
    return std::find(before.begin(), before.end(), each) == before.end();
  });
  return result;
}

}  // namespace

class ThreadWatch::Impl {
 public:
  explicit Impl(ThreadWatchOptions options) : options_(std::move(options)) {
    if (options_.period < std::chrono::milliseconds(1)) {
      throw std::invalid_argument("ThreadWatch: the period must be at least 1 ms");
    }
    check();
    drain_ = std::make_unique<PeriodicDrain>("thread_watch", options_.period, [this] {
      if (!ending_.load(std::memory_order_relaxed)) {  // relaxed: it orders no other data
        check();
      }
    });
  }
  ~Impl() {
    ending_.store(true, std::memory_order_relaxed);  // as above
    drain_->stop();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void flush() { drain_->flush(); }

  ThreadPlanReport report() const {
    const std::scoped_lock lock(mutex_);
    return report_;
  }

 private:
  /// Applies the plan only to the threads that do not have their planned scheduling. For a thread
  /// that has it already, the system call would put the thread behind others of its priority.
  ThreadPlanReport apply_where_needed() const {
    ThreadPlanReport report = options_.plan.verify();
    std::vector<pid_t> wrong;
    for (const PlannedThread& thread : report.threads) {
      if (!thread.problem.empty()) {
        wrong.push_back(thread.tid);
      }
    }
    if (wrong.empty()) {
      return report;
    }
    const ThreadPlanReport given = options_.plan.apply(wrong);
    std::erase_if(report.threads, [](const PlannedThread& each) { return !each.problem.empty(); });
    report.threads.insert(report.threads.end(), given.threads.begin(), given.threads.end());
    report.unplanned.insert(report.unplanned.end(), given.unplanned.begin(), given.unplanned.end());
    std::ranges::sort(report.threads, {}, &PlannedThread::tid);
    std::ranges::sort(report.unplanned, {}, &UnplannedThread::tid);
    return report;
  }

  /// Handles threads of which the origin cannot be read. A known thread keeps its result of the
  /// last check. A new thread is reported only if its origin is still unknown at the next check,
  /// because it may just begin or end.
  void update_unknown(ThreadPlanReport& now) {
    std::vector<UnplannedThread> unplanned;
    std::vector<pid_t> unknown;
    for (const UnplannedThread& each : now.unplanned) {
      if (!each.origin.library.empty()) {
        unplanned.push_back(each);
        continue;
      }
      const auto planned = std::ranges::find(report_.threads, each.tid, &PlannedThread::tid);
      const auto other = std::ranges::find(report_.unplanned, each.tid, &UnplannedThread::tid);
      if (planned != report_.threads.end()) {
        now.threads.push_back(*planned);
      } else if (other != report_.unplanned.end()) {
        unplanned.push_back(*other);
      } else if (std::ranges::find(unknown_, each.tid) != unknown_.end()) {
        unplanned.push_back(each);
      } else {
        unknown.push_back(each.tid);
      }
    }
    now.unplanned = std::move(unplanned);
    unknown_ = std::move(unknown);
    std::ranges::sort(now.threads, {}, &PlannedThread::tid);
  }

  void check() {
    ThreadPlanReport now = apply_where_needed();
    ThreadPlanReport news;
    {
      const std::scoped_lock lock(mutex_);
      update_unknown(now);
      news.threads = changed(report_.threads, now.threads);
      news.unplanned = changed(report_.unplanned, now.unplanned);
      report_ = std::move(now);
    }
    if (options_.on_news && (!news.threads.empty() || !news.unplanned.empty())) {
      options_.on_news(news);
    }
  }

  const ThreadWatchOptions options_;
  mutable std::mutex mutex_;  // guards report_
  ThreadPlanReport report_;
  std::vector<pid_t> unknown_;  // new at the last check, not reported; guarded by mutex_
  std::atomic<bool> ending_{false};
  std::unique_ptr<PeriodicDrain> drain_;
};

ThreadWatch::ThreadWatch(ThreadWatchOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

ThreadWatch::~ThreadWatch() = default;

void ThreadWatch::check() { impl_->flush(); }

ThreadPlanReport ThreadWatch::report() const { return impl_->report(); }

}  // namespace rclrt::realtime
