// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/fake_clock.hpp"

#include <algorithm>

namespace rclrt::realtime {

std::int64_t FakeClock::now_ns() const noexcept RCLRT_NONBLOCKING { return now_ns_.load(); }

void FakeClock::wait_until(EventCount& event, EventCount::Key key,
                           std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  Sleeper self{deadline_ns, &event};
  {
    const std::lock_guard lock(mutex_);
    if (deadline_ns <= now_ns_.load()) {
      event.cancel_wait();
      return;
    }
    const auto later = [](std::int64_t deadline, const Sleeper* other) {
      return deadline < other->deadline_ns;
    };
    sleepers_.insert(std::upper_bound(sleepers_.begin(), sleepers_.end(), deadline_ns, later),
                     &self);
  }
  somebody_sleeps_.notify_all();
  event.wait(key);
  const std::lock_guard lock(mutex_);
  std::erase(sleepers_, &self);  // notified by another thread
}

void FakeClock::wake_earliest() {
  // Its event still exists: the sleeper cannot leave wait_until without mutex_.
  sleepers_.front()->event->notify_all();
  sleepers_.erase(sleepers_.begin());
}

void FakeClock::advance(std::int64_t duration_ns) {
  const std::lock_guard lock(mutex_);
  now_ns_.store(now_ns_.load() + duration_ns);
  while (!sleepers_.empty() && sleepers_.front()->deadline_ns <= now_ns_.load()) {
    wake_earliest();
  }
}

void FakeClock::run_until(std::int64_t end_ns, std::size_t sleepers) {
  std::unique_lock lock(mutex_);
  for (;;) {
    somebody_sleeps_.wait(lock, [&] { return sleepers_.size() >= sleepers; });
    if (sleepers_.empty() || sleepers_.front()->deadline_ns > end_ns) {
      break;
    }
    now_ns_.store(std::max(now_ns_.load(), sleepers_.front()->deadline_ns));
    wake_earliest();
  }
  now_ns_.store(std::max(now_ns_.load(), end_ns));
}

void FakeClock::wait_for_sleepers(std::size_t count) {
  std::unique_lock lock(mutex_);
  somebody_sleeps_.wait(lock, [&] { return sleepers_.size() >= count; });
}

}  // namespace rclrt::realtime
