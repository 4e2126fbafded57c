// SPDX-License-Identifier: Apache-2.0
// A clock for tests: time stands still until the test moves it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A clock for tests. Its time moves only in `advance` and `run_until`, so a test of timing is
/// exact and does not wait. Any thread may move the time. To simulate work that takes time, a
/// worker calls `advance` in its own thread. All functions are thread-safe; they lock and allocate.
///
///     FakeClock clock;
///     std::thread sleeper([&] { clock.sleep_until(50); });
///     clock.wait_for_sleepers(1);  // the thread sleeps
///     clock.advance(50);           // the thread wakes
class RCLRT_REALTIME_EXPORT FakeClock final : public Clock {
 public:
  /// Makes a clock that shows `start_ns` until it is moved.
  RCLRT_SETUP explicit FakeClock(std::int64_t start_ns = 0) : now_ns_(start_ns) {}

  std::int64_t now_ns() const noexcept RCLRT_NONBLOCKING override;
  void wait_until(EventCount& event, EventCount::Key key,
                  std::int64_t deadline_ns) noexcept RCLRT_WAITS override;

  /// Moves time ahead by `duration_ns`. Then wakes every thread that sleeps on this clock and has
  /// reached its deadline, in the order of the deadlines. All of them see the time after the jump.
  RCLRT_SETUP void advance(std::int64_t duration_ns);

  /// Moves time from deadline to deadline until `end_ns`. At each deadline one thread wakes, and
  /// time moves on only when `sleepers` threads sleep again. So the threads that sleep on this
  /// clock run one after another, in the order of their deadlines. With equal deadlines, the thread
  /// that fell asleep first runs first. When `run_until` returns, `sleepers` threads sleep until
  /// after `end_ns`.
  RCLRT_SETUP void run_until(std::int64_t end_ns, std::size_t sleepers);

  /// Waits until at least `count` threads sleep on this clock.
  RCLRT_SETUP void wait_for_sleepers(std::size_t count);

 private:
  struct Sleeper {
    std::int64_t deadline_ns;
    EventCount* event;
  };

  void wake_earliest();  // needs mutex_ and a sleeper

  std::mutex mutex_;
  std::condition_variable somebody_sleeps_;
  // The threads that sleep on this clock, sorted by deadline, then by arrival; guarded by mutex_.
  // Each element points into a running `wait_until`, which removes it under mutex_ before it
  // returns. A thread that wakes a sleeper also removes its element.
  std::vector<Sleeper*> sleepers_;
  // Written under mutex_. seq_cst: a sleeper that was woken reads the time it was woken for.
  std::atomic<std::int64_t> now_ns_;
};

}  // namespace rclrt::realtime
