// SPDX-License-Identifier: Apache-2.0
#include "spin_control.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/deadline.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

using std::chrono::nanoseconds;

/// The first interval at which a spin checks whether it is over; the interval grows up to
/// kLastPoll_ns. The spin polls, because a notification would cost time in every instance of every
/// callback.
constexpr std::int64_t kFirstPoll_ns = 20'000;
constexpr std::int64_t kLastPoll_ns = 200'000;
/// The longest time that a cancel takes to end the wait for a future.
constexpr nanoseconds kWait{1'000'000};

std::int64_t deadline_of(nanoseconds timeout) {
  return timeout < nanoseconds::zero() ? realtime::kNever : realtime::to_deadline_ns(timeout);
}

}  // namespace

void SpinControl::guarded(const std::function<void()>& spin) {
  if (state_.closed()) {
    return;
  }
  if (!state_.begin_spinning()) {
    throw std::logic_error(
        "executor \"" + name_ +
        "\" is spinning already; call spin from one thread only, and not from a callback");
  }
  struct Done {
    SpinState& state;
    ~Done() { state.end_spinning(); }
  } const done{state_};
  spin();
}

void SpinControl::run(const Ended& ended) {
  callbacks_.prepare();
  state_.close_gate();
  try {
    {
      const std::scoped_lock lock(callbacks_.mutex());
      dispatcher_.start();
    }
    callbacks_.start_clock();
  } catch (...) {  // no thread has taken work yet: ends the existing threads
    state_.stop();
    state_.open_gate();
    dispatcher_.stop();
    state_.clear_stop();
    throw;
  }
  state_.open_gate();
  std::int64_t check_ns = stalls_.begin(realtime::monotonic_now_ns());
  while (!state_.stopping()) {
    if (ended == nullptr) {
      state_.await_stop_until(check_ns);
    } else if (ended()) {
      state_.stop();
    }
    if (const std::int64_t now_ns = realtime::monotonic_now_ns();
        now_ns >= check_ns && !state_.stopping()) {
      try {
        check_ns = stalls_.check(dispatcher_, now_ns);
      } catch (const std::bad_alloc&) {  // the next check tries again
        check_ns = now_ns + 1'000'000'000;
      }
    }
    while (!state_.stopping() && !callbacks_.reap_all()) {
      // Not on the guard of a callback: the spinner would own the callback while it sleeps.
      realtime::sleep_until_ns(realtime::monotonic_now_ns() + 1'000'000);
    }
  }
  dispatcher_.wake();
  dispatcher_.stop();
  state_.finish();
}

void SpinControl::spin() RCLRT_WAITS {
  guarded([this] { run(nullptr); });
}

void SpinControl::spin_some() RCLRT_WAITS {
  guarded([this] { run_limited(SpinLimit::kReadyNow, 0); });
}

bool SpinControl::spin_once(nanoseconds timeout) RCLRT_WAITS {
  const std::int64_t deadline_ns = deadline_of(timeout);
  bool ended = false;
  guarded([&] {
    state_.begin_one();
    run_limited(SpinLimit::kOne, deadline_ns);
    ended = state_.one_ended();
  });
  return ended;
}

void SpinControl::run_limited(SpinLimit limit, std::int64_t deadline_ns) {
  callbacks_.prepare();
  Ended ended;  // a dispatcher that polls ends the spin by itself
  if (!dispatcher_.traits().polls) {
    callbacks_.start_clock();
    callbacks_.release_due_timers();
    const Ended over = limit == SpinLimit::kReadyNow ? all_ended() : Ended([this, deadline_ns] {
      return realtime::monotonic_now_ns() >= deadline_ns &&
             (!any_pending() || dispatcher_.holds_back());
    });
    if (over()) {
      state_.clear_stop();  // this spin has consumed an earlier cancel
      return;
    }
    ended = [over, poll_ns = kFirstPoll_ns]() mutable {
      realtime::sleep_until_ns(realtime::monotonic_now_ns() + poll_ns);
      poll_ns = std::min(2 * poll_ns, kLastPoll_ns);
      return over();
    };
  }
  struct Limited {
    SpinState& state;
    ~Limited() { state.clear_limit(); }
  } const limited{state_};
  state_.set_limit(limit, deadline_ns);
  run(ended);
}

bool SpinControl::run_one_on_caller(nanoseconds timeout, std::int64_t ready_by_ns) RCLRT_WAITS {
  if (dispatcher_.traits().polls) {
    throw std::logic_error(
        "executor \"" + name_ +
        "\" polls its entities for work, so it does not offer run_one_on_caller; use spin_once");
  }
  if (dispatcher_.traits().reads_ahead) {
    throw std::logic_error(
        "executor \"" + name_ +
        "\" reads the messages of a set together (logical execution time), so it does not offer "
        "run_one_on_caller, which runs one instance; use spin_once");
  }
  const std::int64_t deadline_ns = deadline_of(timeout);
  bool ran = false;
  guarded([&] {
    callbacks_.prepare();
    callbacks_.start_clock();
    ran = run_one(deadline_ns, ready_by_ns);
    callbacks_.reap_all();
    state_.finish();
  });
  return ran;
}

bool SpinControl::run_one(std::int64_t deadline_ns, std::int64_t ready_by_ns) {
  realtime::EventCount& wakeup = state_.caller_wakeup();
  while (!state_.stopping()) {
    const auto key = wakeup.prepare_wait();
    Instance* instance = nullptr;
    std::int64_t next_ns = INT64_MAX;
    {
      const std::scoped_lock lock(callbacks_.mutex());
      instance = dispatcher_.take_on_caller(ready_by_ns, next_ns);
    }
    const bool over = deadline_ns <= realtime::monotonic_now_ns();
    if (instance == nullptr && !over && !state_.stopping()) {
      wakeup.wait_until(key, std::min(deadline_ns, next_ns));
      continue;
    }
    wakeup.cancel_wait();
    if (instance == nullptr) {
      return false;
    }
    WorkerPriority priority;
    runner_.execute(instance, {}, priority);
    dispatcher_.end_on_caller();
    return true;
  }
  return false;
}

SpinResult SpinControl::spin_until(const std::function<bool(nanoseconds)>& complete,
                                   nanoseconds timeout) RCLRT_WAITS {
  const std::int64_t deadline_ns = deadline_of(timeout);
  if (complete(nanoseconds::zero())) {
    return SpinResult::kComplete;
  }
  bool timed_out = false;
  guarded([&] {
    run([&] {
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

/// Returns a predicate for the end of `spin_some`. It is true when each callback has ended as many
/// instances as are pending now, or when the dispatcher holds back the remaining ones.
SpinControl::Ended SpinControl::all_ended() const {
  std::vector<std::pair<std::shared_ptr<Callback>, std::uint64_t>> targets;
  for (auto& callback : callbacks_.all()) {
    const Counters counters = callback->counters();
    if (counters.pending() != 0) {
      targets.emplace_back(std::move(callback), counters.completed + counters.pending());
    }
  }
  return [this, targets = std::move(targets)] {
    return dispatcher_.holds_back() ||
           std::all_of(targets.begin(), targets.end(), [](const auto& target) {
             const Counters counters = target.first->counters();
             return counters.completed >= target.second || counters.pending() == 0;
           });
  };
}

bool SpinControl::any_pending() const {
  const auto all = callbacks_.all();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& callback) { return callback->counters().pending() != 0; });
}

}  // namespace rclrt::executor
