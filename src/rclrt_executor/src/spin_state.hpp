// SPDX-License-Identifier: Apache-2.0
// What the threads of one executor share about its spins: how one starts, and what ends it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/semaphore.hpp"

namespace rclrt::executor {

class Dispatcher;

/// What ends a spin besides a cancel.
enum class SpinLimit : std::uint8_t {
  kNone,
  kOne,       ///< the end of an instance
  kReadyNow,  ///< that what was ready at its start has ended
};

/// Guards nothing: each part is an atomic, or belongs to the thread that spins.
class SpinState {
 public:
  // Any thread.

  /// Ends the running spin, or the next one.
  void cancel() noexcept RCLRT_NONBLOCKING;
  /// Ends the running spin with the exception that is being handled.
  void fail() noexcept;
  /// Cancels, for good.
  void close() noexcept RCLRT_NONBLOCKING {
    closed_.store(true);
    cancel();
  }
  bool closed() const noexcept RCLRT_NONBLOCKING { return closed_.load(); }
  /// Takes back a cancel that no spin has seen.
  void clear_cancel() noexcept RCLRT_NONBLOCKING {
    if (!spinning_.load()) {
      stop_.store(false);
    }
  }
  bool stopping() const noexcept RCLRT_NONBLOCKING { return stop_.load(); }
  const std::atomic<bool>& stop_flag() const noexcept RCLRT_NONBLOCKING { return stop_; }
  /// Wakes the thread in `await_stop`: there may be something for it to do.
  void wake_spinner() noexcept RCLRT_NONBLOCKING { stopped_.post(); }
  /// The thread in run_one_on_caller sleeps on it: notified of whatever becomes ready and finds no
  /// sleeping worker.
  realtime::EventCount& caller_wakeup() noexcept RCLRT_NONBLOCKING { return caller_wakeup_; }

  // The executor's threads.

  /// Blocks until all threads of this spin exist: the first call of each. No thread takes work
  /// before, so the first instances meet the same priorities as all later ones.
  void await_start() noexcept RCLRT_WAITS;
  /// Tells that an instance has ended: with kOne that ends the spin.
  void instance_ended() noexcept RCLRT_NONBLOCKING {
    if (limit_.load(std::memory_order_relaxed) == SpinLimit::kOne) {
      one_ended_.store(true);
      cancel();
    }
  }
  /// Returns what ends the running spin. Dispatchers that poll end it by `cancel` when nothing is
  /// ready: with kReadyNow after one set, with kOne once `deadline_ns` has passed.
  SpinLimit limit() const noexcept RCLRT_NONBLOCKING { return limit_.load(); }
  std::int64_t deadline_ns() const noexcept RCLRT_NONBLOCKING { return deadline_ns_.load(); }

  // The thread that spins.

  /// Returns false when another thread spins already; otherwise `end_spinning` must follow.
  bool begin_spinning() noexcept { return !spinning_.exchange(true); }
  void end_spinning() noexcept { spinning_.store(false); }
  void set_limit(SpinLimit limit, std::int64_t deadline_ns) noexcept {
    deadline_ns_.store(deadline_ns);
    limit_.store(limit);
  }
  void clear_limit() noexcept { limit_.store(SpinLimit::kNone); }
  /// Forgets the instance that ended the last spin of kOne.
  void begin_one() noexcept { one_ended_.store(false); }
  bool one_ended() const noexcept { return one_ended_.load(); }
  void close_gate() noexcept { started_.store(false); }
  void open_gate() noexcept {
    started_.store(true);
    start_.notify_all();
  }
  void stop() noexcept { stop_.store(true); }
  /// Lets the next spin start: this one has seen the cancel.
  void clear_stop() noexcept { stop_.store(false); }
  /// Waits for a cancel or `wake_spinner`, until then (CLOCK_MONOTONIC) at the latest.
  void await_stop_until(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
    stopped_.wait_until(deadline_ns);
  }
  /// Lets the next spin start, and throws what a callback of this one threw.
  void finish();
  /// From here on `cancel` wakes the threads of `dispatcher`, which outlives this object's use.
  void set_dispatcher(Dispatcher& dispatcher) noexcept { dispatcher_.store(&dispatcher); }

 private:
  realtime::Semaphore stopped_;         // for the thread that spins: posted after stop_ was set
  std::atomic<bool> closed_{false};     // never cleared
  std::atomic<bool> spinning_{false};   // the thread that sets it is the one that spins
  std::atomic<bool> one_ended_{false};  // of kOne
  std::atomic<bool> started_{false};    // all threads of this spin exist
  std::atomic<std::int64_t> deadline_ns_{0};
  std::atomic<Dispatcher*> dispatcher_{nullptr};  // once it is prepared
  realtime::EventCount caller_wakeup_;
  realtime::EventCount start_;
  std::atomic_flag failed_;  // the thread that sets it first owns error_ until spin has joined it
  std::exception_ptr error_;

  // What every instance looks at.
  // Set before the threads start and after they have ended; relaxed where instances end.
  alignas(64) std::atomic<SpinLimit> limit_{SpinLimit::kNone};
  // Set by cancel or fail, cleared by spin when it returns: a cancel before spin is not lost.
  std::atomic<bool> stop_{false};
};

}  // namespace rclrt::executor
