// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/wait_set_executor.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

WaitSetExecutor::WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source)
    : Executor(std::move(options)), source_(std::move(source)) {}

WaitSetExecutor::~WaitSetExecutor() { shut_down(); }

void WaitSetExecutor::take_in(Callback& /*callback*/) { look_again(); }

void WaitSetExecutor::let_out(Callback& /*callback*/) noexcept { look_again(); }

void WaitSetExecutor::look_again() noexcept {
  changed_.store(true);
  source_->wake();
}

/// Takes over what was added and removed since the last polling point.
void WaitSetExecutor::reload() {
  const std::scoped_lock lock(configuration());
  timers_.clear();
  others_.clear();
  for (const auto& callback : locked_callbacks()) {
    if (TimerCallback* const timer = as_timer(*callback)) {
      timers_.push_back(timer);
    } else {
      others_.push_back(callback.get());
    }
  }
  std::stable_sort(others_.begin(), others_.end(),
                   [](const Callback* a, const Callback* b) { return a->type() < b->type(); });
  source_->watch(others_);
  watched_ = locked_callbacks();
}

void WaitSetExecutor::start_threads() {
  changed_.store(true);
  thread_ = realtime::Thread(thread_options("ws", mapped_priority(0)), [this] {
    await_start();
    try {
      loop();
    } catch (...) {
      fail();
    }
  });
}

int WaitSetExecutor::priority_of(int /*level*/) const noexcept {
  return options().top_priority - 1;  // one thread runs them all
}

std::int64_t WaitSetExecutor::next_timer_ns() const noexcept {
  std::int64_t next = realtime::EventCount::kForever;
  for (TimerCallback* timer : timers_) {
    next = std::min(next, timer->schedule().next_ns());
  }
  return next;
}

void WaitSetExecutor::loop() {
  std::vector<bool> ready;
  std::vector<bool> due;
  while (!stopping()) {
    // The polling point.
    if (changed_.exchange(false)) {
      reload();
      ready.assign(others_.size(), false);
      due.assign(timers_.size(), false);
    }
    source_->wait(next_timer_ns(), ready);
    const std::int64_t now = realtime::monotonic_now_ns();
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      due[i] = timers_[i]->schedule().next_ns() <= now;
    }
    // The processing window: this set and nothing else.
    for (std::size_t i = 0; i < timers_.size() && !stopping(); ++i) {
      if (due[i]) {
        const auto release = timers_[i]->take(realtime::monotonic_now_ns(), OverrunPolicy::kSkip);
        execute(*timers_[i], release.nominal_ns, release.nominal_ns, 0);
      }
    }
    for (std::size_t i = 0; i < others_.size() && !stopping(); ++i) {
      if (ready[i]) {
        execute(*others_[i], now, 0, 0);
      }
    }
  }
}

void WaitSetExecutor::stop_threads() noexcept {
  thread_.join();
  const std::scoped_lock lock(configuration());
  watched_.clear();
}

bool WaitSetExecutor::has_forgotten(const Callback& callback) const noexcept {
  return std::none_of(watched_.begin(), watched_.end(),
                      [&](const auto& each) { return each.get() == &callback; });
}

void WaitSetExecutor::wake_threads() noexcept RCLRT_NONBLOCKING {
  // The baseline waits in a middleware, whose wake-up takes a lock for a moment.
  RCLRT_TRUST("offers no more than its middleware does", source_->wake());
}

}  // namespace rclrt::executor
