// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/periodic_drain.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rclrt::realtime {

namespace {
/// The longest wait of std::condition_variable, so that its end is far from the end of the clock.
constexpr std::chrono::hours kLongest{365 * 24};
}  // namespace

PeriodicDrain::PeriodicDrain(const std::string& thread_name, std::chrono::milliseconds period,
                             std::function<void()> pass)
    : period_(std::min<std::chrono::milliseconds>(period, kLongest)), pass_(std::move(pass)) {
  if (period_ < std::chrono::milliseconds(1)) {
    throw std::invalid_argument(thread_name + ": the drain's period must be at least 1 ms");
  }
  // Explicitly at normal priority, because the creating thread may be a real-time thread.
  thread_ = Thread({.name = thread_name}, [this] { run(); });
}

void PeriodicDrain::run() {
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    changed_.wait_for(lock, period_, [this] { return stop_ || wanted_ > done_; });
    last = stop_;
    ++begun_;
    lock.unlock();
    pass_();
    lock.lock();
    done_ = begun_;
    changed_.notify_all();
  }
  ended_ = true;
  changed_.notify_all();
}

void PeriodicDrain::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t pass = begun_ + 1;
  wanted_ = std::max(wanted_, pass);
  changed_.notify_all();
  changed_.wait(lock, [&] { return done_ >= pass || ended_; });
}

void PeriodicDrain::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  const std::lock_guard lock(joining_);
  thread_.join();
}

}  // namespace rclrt::realtime
