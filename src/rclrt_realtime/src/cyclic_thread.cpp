// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/cyclic_thread.hpp"

#include <sys/prctl.h>

#include <stdexcept>
#include <string>

namespace rclrt::realtime {

namespace {

/// Increases a counter that only the calling thread writes.
void count(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept RCLRT_NONBLOCKING {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

CyclicThread::CyclicThread(std::unique_ptr<Body> body, CyclicOptions options)
    : options_(std::move(options)),
      body_(std::move(body)),
      schedule_(options_.period_ns, options_.overrun) {
  if (options_.clock == nullptr) {
    throw std::invalid_argument(
        "cyclic thread \"" + options_.thread.name +
        "\" needs a clock, not nullptr; leave out `clock` to use &steady_clock()");
  }
  if (options_.first_release_ns.value_or(0) < 0) {
    throw std::invalid_argument(
        "the first release is a time on the thread's clock and must not be negative: " +
        std::to_string(*options_.first_release_ns) +
        " ns; leave out first_release_ns to start at once");
  }
  if (options_.deadline_ns < 0) {
    throw std::invalid_argument("a deadline must not be negative, not " +
                                std::to_string(options_.deadline_ns) + " ns");
  }
  if (options_.wake_ahead_ns < 0 || options_.wake_ahead_ns >= options_.period_ns) {
    throw std::invalid_argument("wake_ahead_ns must be 0 or more and less than the period, not " +
                                std::to_string(options_.wake_ahead_ns) + " ns");
  }
}

CyclicThread::~CyclicThread() { stop(); }

void CyclicThread::start() {
  if (running()) {
    throw std::logic_error("starting cyclic thread \"" + options_.thread.name +
                           "\", which is still running; call stop() first");
  }
  join();
  lateness_.reset();
  loop_time_.reset();
  for (auto* counter : {&cycles_, &missed_, &overruns_, &deadline_misses_}) {
    counter->store(0, std::memory_order_relaxed);  // the start of the thread orders it
  }
  stop_.store(false);
  running_.store(true);
  try {
    thread_ = Thread(options_.thread, [this] { run(); });
  } catch (...) {
    running_.store(false);
    throw;
  }
}

void CyclicThread::request_stop() noexcept RCLRT_NONBLOCKING {
  stop_.store(true);
  wake_.notify_all();
}

void CyclicThread::join() noexcept RCLRT_WAITS { thread_.join(); }

void CyclicThread::stop() noexcept RCLRT_WAITS {
  request_stop();
  join();
}

bool CyclicThread::running() const noexcept RCLRT_NONBLOCKING { return running_.load(); }

CyclicCounts CyclicThread::counts() const noexcept RCLRT_NONBLOCKING {
  // relaxed: each figure is independent of the others
  return {cycles_.load(std::memory_order_relaxed), missed_.load(std::memory_order_relaxed),
          overruns_.load(std::memory_order_relaxed),
          deadline_misses_.load(std::memory_order_relaxed)};
}

void CyclicThread::run() {
  // Kernels before 6.13 delay a futex's timeout by up to the slack, 50 µs, even under SCHED_FIFO.
  prctl(PR_SET_TIMERSLACK, 1UL);
  std::int64_t now_ns = options_.clock->now_ns();
  schedule_.start(now_ns, options_.first_release_ns);
  while (sleep_until_release(now_ns)) {
    const Release release{schedule_.index(), schedule_.nominal_ns(),
                          now_ns - schedule_.nominal_ns()};
    const LoopControl control = body_->loop(release);
    finish_cycle(release, options_.clock->now_ns());
    if (control == LoopControl::kStop) {
      break;
    }
  }
  running_.store(false);
}

/// Sleeps until the next release. Returns true when it has come, with the current time in `now_ns`.
/// Returns false if the thread must stop.
bool CyclicThread::sleep_until_release(std::int64_t& now_ns) noexcept RCLRT_WAITS {
  const std::int64_t wake_ns = schedule_.nominal_ns() - options_.wake_ahead_ns;
  for (;;) {
    if (stop_.load()) {
      return false;
    }
    now_ns = options_.clock->now_ns();
    if (now_ns >= wake_ns) {
      return true;
    }
    const EventCount::Key key = wake_.prepare_wait();
    if (stop_.load()) {
      wake_.cancel_wait();
      return false;
    }
    options_.clock->wait_until(wake_, key, wake_ns);
  }
}

void CyclicThread::finish_cycle(const Release& release, std::int64_t finish_ns) {
  const CyclicSchedule::Outcome outcome = schedule_.finish(finish_ns);
  lateness_.record_alone(release.lateness_ns);
  loop_time_.record_alone(finish_ns - release.nominal_ns - release.lateness_ns);
  count(cycles_, 1);
  count(missed_, outcome.missed);
  count(overruns_, outcome.overrun ? 1 : 0);
  const std::int64_t deadline_ns =
      options_.deadline_ns != 0 ? options_.deadline_ns : options_.period_ns;
  const std::int64_t lateness_ns = finish_ns - release.nominal_ns - deadline_ns;
  if (lateness_ns > 0) {
    count(deadline_misses_, 1);
    body_->deadline_missed({release, finish_ns, lateness_ns});
  }
}

}  // namespace rclrt::realtime
