// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/wait_set_executor.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

namespace {

/// Spreads `value` over all numbers (splitmix64).
std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

WaitSetExecutor::WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source,
                                 WaitSetOptions wait_set)
    : Executor(std::move(options)), source_(std::move(source)), wait_set_(wait_set) {
  if (wait_set_.threads == 0) {
    throw std::invalid_argument("a wait set executor needs at least one thread");
  }
}

WaitSetExecutor::~WaitSetExecutor() { shut_down(); }

void WaitSetExecutor::on_added(Callback& /*callback*/) { look_again(); }

void WaitSetExecutor::on_removed(Callback& /*callback*/) noexcept { look_again(); }

void WaitSetExecutor::look_again() noexcept {
  changed_.store(true);
  source_->wake();
}

std::size_t WaitSetExecutor::concurrency() const {
  return std::min(wait_set_.threads, cpu_count());
}

/// Takes over what was added and removed since the last polling point.
void WaitSetExecutor::reload() {
  const std::scoped_lock lock(configuration());
  timers_.clear();
  others_.clear();
  watched_ = locked_callbacks();
  auto ordered = watched_;
  if (wait_set_.order == WaitSetOrder::kArbitrary) {
    std::map<const Callback*, std::uint64_t> place;
    for (const auto& callback : watched_) {
      place[callback.get()] = scrambled(wait_set_.seed + scrambled(place.size()));
    }
    std::sort(ordered.begin(), ordered.end(),
              [&](const auto& a, const auto& b) { return place[a.get()] < place[b.get()]; });
  }
  for (const auto& callback : ordered) {
    if (TimerCallback* const timer = as_timer(*callback)) {
      timers_.push_back(timer);
    } else {
      others_.push_back(callback.get());
    }
  }
  std::stable_sort(others_.begin(), others_.end(),
                   [](const Callback* a, const Callback* b) { return a->type() < b->type(); });
  source_->watch(others_);
  due_.assign(timers_.size(), false);
  ready_.assign(others_.size(), false);
  asked_.assign(others_.size(), false);
}

void WaitSetExecutor::start_threads() {
  changed_.store(true);
  polled_ = false;
  threads_.reserve(wait_set_.threads);
  for (std::uint32_t slot = 0; slot < wait_set_.threads; ++slot) {
    const std::string name = wait_set_.threads == 1 ? "ws" : "ws" + std::to_string(slot);
    threads_.emplace_back(thread_options(name, mapped_priority(0)), [this, slot] {
      await_start();
      try {
        run(slot);
      } catch (...) {
        fail();
      }
    });
  }
}

int WaitSetExecutor::priority_of(int /*level*/) const noexcept {
  return options().top_priority - 1;  // where all of them run
}

void WaitSetExecutor::run(std::uint32_t slot) {
  for (;;) {
    Work work;
    {
      const std::scoped_lock lock(draw_);
      if (!take_next(work)) {
        return;
      }
    }
    Callback& callback = *work.callback;
    execute(callback, work.release_ns, work.ready_ns, slot);
    callback.group().leave();
    if (wait_set_.threads > 1 && callback.group().type() == GroupType::kMutuallyExclusive) {
      source_->wake();
    }
    callback.unpin();
  }
}

bool WaitSetExecutor::take_next(Work& work) {
  while (!stopping()) {
    if (take_ready(work)) {
      return true;
    }
    // With kReadyNow the deadline is 0: it has passed at once.
    if (limit() != SpinLimit::kNone && polled_ &&
        realtime::monotonic_now_ns() >= spin_deadline_ns()) {
      if (is_empty()) {
        cancel();
        return false;
      }
      await_group();  // polling with a deadline that has passed would not sleep
      continue;
    }
    poll();
  }
  return false;
}

/// The processing window: this set and nothing else.
bool WaitSetExecutor::take_ready(Work& work) {
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    if (due_[i] && timers_[i]->group().try_enter()) {
      due_[i] = false;
      const auto release = timers_[i]->take(realtime::monotonic_now_ns(), OverrunPolicy::kSkip);
      work = {timers_[i], release.nominal_ns, release.nominal_ns};
      work.callback->pin();
      return true;
    }
  }
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (ready_[i] && others_[i]->group().try_enter()) {
      ready_[i] = false;
      work = {others_[i], polled_ns_, 0};
      work.callback->pin();
      return true;
    }
  }
  return false;
}

bool WaitSetExecutor::is_empty() const {
  const auto is_set = [](bool each) { return each; };
  return std::none_of(due_.begin(), due_.end(), is_set) &&
         std::none_of(ready_.begin(), ready_.end(), is_set);
}

/// What is left waits for its group: until somebody leaves one.
void WaitSetExecutor::await_group() {
  asked_.assign(others_.size(), false);
  std::vector<bool> none(others_.size());
  source_->wait(realtime::EventCount::kForever, asked_, none);
}

/// The polling point.
void WaitSetExecutor::poll() {
  if (changed_.exchange(false)) {
    reload();
  }
  std::int64_t next_ns = realtime::EventCount::kForever;
  for (TimerCallback* const timer : timers_) {
    if (!timer->group().busy()) {
      next_ns = std::min(next_ns, timer->schedule().next_ns());
    }
  }
  for (std::size_t i = 0; i < others_.size(); ++i) {
    asked_[i] = !others_[i]->group().busy();
  }
  if (limit() == SpinLimit::kReadyNow) {
    next_ns = std::min(next_ns, realtime::monotonic_now_ns());
  } else if (limit() == SpinLimit::kOne) {
    next_ns = std::min(next_ns, spin_deadline_ns());
  }
  source_->wait(next_ns, asked_, ready_);
  polled_ = true;
  polled_ns_ = realtime::monotonic_now_ns();
  for (std::size_t i = 0; i < timers_.size(); ++i) {
    due_[i] = timers_[i]->schedule().next_ns() <= polled_ns_;
  }
}

void WaitSetExecutor::stop_threads() noexcept {
  threads_.clear();  // joins them
  // What is left of the set is found again; until then its callbacks may go.
  timers_.clear();
  others_.clear();
  due_.clear();
  ready_.clear();
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
