// SPDX-License-Identifier: Apache-2.0
// The spins that end by themselves.
#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rclrt/executor/executor.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/deadline.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

using std::chrono::nanoseconds;

/// Polled, less and less often: being notified would cost every instance of every callback.
constexpr std::int64_t kFirstPoll_ns = 20'000;
constexpr std::int64_t kLastPoll_ns = 200'000;
/// How long a cancel may take to end the wait for a future.
constexpr nanoseconds kWait{1'000'000};

std::int64_t deadline_of(nanoseconds timeout) {
  return timeout < nanoseconds::zero() ? realtime::kNever : realtime::to_deadline_ns(timeout);
}

}  // namespace

void Executor::spin_some() RCLRT_WAITS {
  guarded_spin([this] { limited_spin(SpinLimit::kReadyNow, 0); });
}

bool Executor::spin_once(nanoseconds timeout) RCLRT_WAITS {
  const std::int64_t deadline_ns = deadline_of(timeout);
  bool ended = false;
  guarded_spin([&] {  // one_ended_ is the spinning thread's: another call must not touch it
    one_ended_.store(false);
    limited_spin(SpinLimit::kOne, deadline_ns);
    ended = one_ended_.load();
  });
  return ended;
}

void Executor::limited_spin(SpinLimit limit, std::int64_t deadline_ns) {
  prepare();
  Ended ended;  // those who poll know it themselves
  if (listens()) {
    {
      start_clock();
      const std::scoped_lock lock(configuration_);
      release_due_timers();
    }
    const Ended over = limit == SpinLimit::kReadyNow ? all_ended() : Ended([this, deadline_ns] {
      return realtime::monotonic_now_ns() >= deadline_ns && !any_pending();
    });
    if (over()) {
      stop_.store(false);  // a cancel that came before has had its spin
      return;
    }
    ended = [over, poll_ns = kFirstPoll_ns]() mutable {
      realtime::sleep_until_ns(realtime::monotonic_now_ns() + poll_ns);
      poll_ns = std::min(2 * poll_ns, kLastPoll_ns);
      return over();
    };
  }
  struct Limited {
    std::atomic<SpinLimit>& limit;
    ~Limited() { limit.store(SpinLimit::kNone); }
  } const limited{limit_};
  spin_deadline_ns_.store(deadline_ns);
  limit_.store(limit);
  do_spin(ended);
}

bool Executor::run_one_on_caller(nanoseconds timeout, std::int64_t ready_by_ns) RCLRT_WAITS {
  if (!listens()) {
    throw std::logic_error("executor \"" + options_.name +
                           "\" asks for work by itself: run_one_on_caller is not offered");
  }
  const std::int64_t deadline_ns = deadline_of(timeout);
  bool ran = false;
  guarded_spin([&] {
    prepare();
    start_clock();
    while (!stopping()) {
      const auto key = caller_wakeup_.prepare_wait();
      Instance* instance = nullptr;
      std::int64_t next_ns = 0;
      {
        const std::scoped_lock lock(configuration_);
        instance = take_on_caller(ready_by_ns);
        next_ns = instance == nullptr ? next_release_ns() : 0;
      }
      const bool over = deadline_ns <= realtime::monotonic_now_ns();
      if (instance != nullptr || over || stopping()) {
        caller_wakeup_.cancel_wait();
      } else {
        caller_wakeup_.wait_until(key, std::min(deadline_ns, next_ns));
        continue;
      }
      if (instance != nullptr) {
        WorkerPriority priority;
        execute(instance, 0, priority);
        end_on_caller();
        ran = true;
      }
      break;
    }
    have_all_left();
    finish_spin();
  });
  return ran;
}

SpinResult Executor::spin_until(const std::function<bool(nanoseconds)>& complete,
                                nanoseconds timeout) {
  const std::int64_t deadline_ns = deadline_of(timeout);
  if (complete(nanoseconds::zero())) {
    return SpinResult::kComplete;
  }
  bool timed_out = false;
  guarded_spin([&] {
    do_spin([&] {
      if (complete(kWait)) {
        return true;
      }
      timed_out = realtime::monotonic_now_ns() >= deadline_ns;
      return timed_out;
    });
  });
  if (complete(nanoseconds::zero())) {
    return SpinResult::kComplete;
  }
  return timed_out ? SpinResult::kTimeout : SpinResult::kInterrupted;
}

/// No thread runs: the schedules are in nobody's hands.
void Executor::release_due_timers() {
  const std::int64_t now = realtime::monotonic_now_ns();
  std::vector<Instance*> released;
  for (const auto& callback : callbacks_) {
    TimerCallback* const timer = as_timer(*callback);
    if (timer == nullptr || timer->schedule().next_ns() > now) {
      continue;
    }
    on_removed(*timer);
    while (timer->schedule().next_ns() <= now) {
      if (Instance* const instance = timer->expire(now)) {
        released.push_back(instance);
      }
    }
    on_added(*timer);
  }
  std::stable_sort(released.begin(), released.end(), [](const Instance* a, const Instance* b) {
    return a->release_ns < b->release_ns;
  });
  for (Instance* const instance : released) {
    instance->callback->submit(instance);
  }
}

/// Whether as many have ended, of each callback, as are pending now.
Executor::Ended Executor::all_ended() const {
  std::vector<std::pair<std::shared_ptr<Callback>, std::uint64_t>> targets;
  for (auto& callback : callbacks()) {
    const Counters counters = callback->counters();
    if (counters.pending() != 0) {
      targets.emplace_back(std::move(callback), counters.completed + counters.pending());
    }
  }
  return [targets = std::move(targets)] {
    return std::all_of(targets.begin(), targets.end(), [](const auto& target) {
      const Counters counters = target.first->counters();
      return counters.completed >= target.second || counters.pending() == 0;
    });
  };
}

bool Executor::any_pending() const {
  const auto all = callbacks();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& callback) { return callback->counters().pending() != 0; });
}

}  // namespace rclrt::executor
