// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/executor.hpp"

#include <mutex>
#include <stdexcept>
#include <utility>

#include "miss_watch.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::executor {

Executor::Executor(ExecutorOptions options)
    : options_(std::move(options)),
      sink_(options_.sink),
      watch_(options_.on_miss == nullptr
                 ? nullptr
                 : std::make_unique<MissWatch>(*options_.on_miss, options_.miss_history,
                                               options_.reservations.size())) {}

Executor::~Executor() = default;

void Executor::spin() RCLRT_WAITS {
  guarded_spin([this] { do_spin(nullptr); });
}

void Executor::guarded_spin(const std::function<void()>& spin) {
  if (closed_.load()) {
    return;
  }
  if (spinning_.exchange(true)) {
    throw std::logic_error("executor \"" + options_.name +
                           "\" is spinning already: spin it from one thread, not in a callback");
  }
  struct Done {
    std::atomic<bool>& spinning;
    ~Done() { spinning.store(false); }
  } const done{spinning_};
  spin();
}

/// However long ago prepare was. Called while no thread takes work: the schedules are in nobody's
/// hands. All timers shift alike: queues by time stay ordered.
void Executor::start_clock() {
  {
    const std::scoped_lock lock(configuration_);
    if (has_spun_) {
      return;
    }
  }
  const std::int64_t epoch_ns = options_.epoch ? options_.epoch() : realtime::monotonic_now_ns();
  const std::scoped_lock lock(configuration_);
  has_spun_ = true;
  start_timers(epoch_ns);
}

void Executor::do_spin(const Ended& ended) {
  prepare();
  started_.store(false);
  const auto open_gate = [this] {
    started_.store(true);
    start_.notify_all();
  };
  try {
    {
      const std::scoped_lock lock(configuration_);
      start_threads();
    }
    start_clock();
  } catch (...) {  // no thread has taken work yet: end those that exist
    stop_.store(true);
    open_gate();
    stop_threads();
    stop_.store(false);
    throw;
  }
  open_gate();
  while (!stopping()) {
    if (ended == nullptr) {
      stopped_.wait();
    } else if (ended()) {
      stop_.store(true);
    }
    while (!stopping() && !have_all_left()) {
      realtime::sleep_until_ns(realtime::monotonic_now_ns() + 1'000'000);
    }
  }
  wake_threads();
  stop_threads();
  finish_spin();
}

/// The next spin may start; and what a callback threw is thrown to the caller of this one.
void Executor::finish_spin() {
  const std::exception_ptr error = std::exchange(error_, nullptr);
  failed_.clear();
  stop_.store(false);
  if (error) {
    std::rethrow_exception(error);
  }
}

void Executor::await_start() noexcept RCLRT_WAITS {
  while (!started_.load()) {
    const auto key = start_.prepare_wait();
    if (started_.load()) {
      start_.cancel_wait();
      break;
    }
    start_.wait(key);
  }
}

void Executor::cancel() noexcept RCLRT_NONBLOCKING {
  stop_.store(true);
  if (ready_to_wake_.load()) {
    wake_threads();
  }
  caller_wakeup_.notify_all();
  stopped_.post();
}

void Executor::clear_cancel() noexcept RCLRT_NONBLOCKING {
  if (!spinning_.load()) {
    stop_.store(false);
  }
}

void Executor::close() noexcept RCLRT_NONBLOCKING {
  closed_.store(true);
  cancel();
}

void Executor::fail() noexcept {
  if (!failed_.test_and_set()) {
    error_ = std::current_exception();
  }
  cancel();
}

int Executor::os_priority(int level) const {
  const std::scoped_lock lock(configuration_);
  return mapped_priority(level);
}

int Executor::priority_of(int level) const noexcept { return priorities_->os_priority(level); }

realtime::ThreadOptions Executor::thread_options(const std::string& suffix, int os_priority) const {
  realtime::ThreadOptions result{
      .name = options_.name + " " + suffix, .scheduling = {}, .stack_size = options_.stack_size};
  result.scheduling.cpus = options_.cpus;
  if (realtime_) {
    result.scheduling.policy = realtime::Policy::kFifo;
    result.scheduling.priority = os_priority;
  }
  return result;
}

realtime::ThreadOptions Executor::level_thread_options(int level) const {
  realtime::ThreadOptions result =
      thread_options("L" + std::to_string(level), mapped_priority(level));
  if (realtime_ && is_reserved(level)) {
    result.scheduling.policy = realtime::Policy::kDeadline;
    result.scheduling.reservation = options_.reservations.at(level);
  }
  return result;
}

std::size_t Executor::cpu_count() const {
  return options_.cpus.empty() ? realtime::allowed_cpus().size() : options_.cpus.size();
}

}  // namespace rclrt::executor
