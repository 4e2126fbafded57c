// SPDX-License-Identifier: Apache-2.0
// The state that the threads of one executor share about its spins: the start and the end of one.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/semaphore.hpp"

namespace rclrt::executor {

class Dispatcher;

/// The condition that ends a spin besides a cancel.
enum class SpinLimit : std::uint8_t {
  kNone,
  kOne,       ///< the end of an instance
  kReadyNow,  ///< the end of all instances that were ready at its start
};

/// Guards nothing: each part is an atomic, or belongs to the thread that spins.
class SpinState {
 public:
  // Thread-safe functions.

  /// Ends the running spin, or the next one.
  void cancel() noexcept RCLRT_NONBLOCKING;
  /// Ends the running spin with the exception that is being handled.
  void fail() noexcept;
  /// Cancels permanently.
  void close() noexcept RCLRT_NONBLOCKING {
    closed_.store(true);
    cancel();
  }
  bool closed() const noexcept RCLRT_NONBLOCKING { return closed_.load(); }
  /// Withdraws a cancel that no spin has seen.
  void clear_cancel() noexcept RCLRT_NONBLOCKING {
    if (!spinning_.load()) {
      stop_.store(false);
    }
  }
  bool stopping() const noexcept RCLRT_NONBLOCKING { return stop_.load(); }
  const std::atomic<bool>& stop_flag() const noexcept RCLRT_NONBLOCKING { return stop_; }
  /// Wakes the thread in `await_stop`, which may have work.
  void wake_spinner() noexcept RCLRT_NONBLOCKING { stopped_.post(); }
  /// Returns the event count on which the thread in run_one_on_caller sleeps. A thread that makes
  /// an instance ready notifies it if no worker sleeps.
  realtime::EventCount& caller_wakeup() noexcept RCLRT_NONBLOCKING { return caller_wakeup_; }

  // Functions for the executor's threads.

  /// Blocks until all threads of this spin exist. Each thread calls it first, so no thread takes
  /// work before the others exist, and the first instances see the same priorities as all later
  /// ones.
  void await_start() noexcept RCLRT_WAITS;
  /// Reports that an instance has ended: with kOne this ends the spin.
  void instance_ended() noexcept RCLRT_NONBLOCKING {
    if (limit_.load(std::memory_order_relaxed) == SpinLimit::kOne) {
      one_ended_.store(true);
      cancel();
    }
  }
  /// Returns the condition that ends the running spin. Dispatchers that poll end the spin by
  /// `cancel` when no entity is ready: for kReadyNow after one set, for kOne after `deadline_ns`.
  SpinLimit limit() const noexcept RCLRT_NONBLOCKING { return limit_.load(); }
  std::int64_t deadline_ns() const noexcept RCLRT_NONBLOCKING { return deadline_ns_.load(); }

  // Functions for the thread that spins.

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
  bool is_gate_open() const noexcept { return started_.load(); }
  void open_gate() noexcept {
    started_.store(true);
    start_.notify_all();
  }
  void stop() noexcept { stop_.store(true); }
  /// Lets the next spin start: this one has seen the cancel.
  void clear_stop() noexcept { stop_.store(false); }
  /// Waits for a cancel or `wake_spinner`, until `deadline_ns` (CLOCK_MONOTONIC) at the latest.
  void await_stop_until(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
    stopped_.wait_until(deadline_ns);
  }
  /// Lets the next spin start, and rethrows the exception of a callback of this one.
  void finish();
  /// Makes `cancel` wake the threads of `dispatcher` from now on. `dispatcher` must live as long as
  /// this object is used.
  void set_dispatcher(Dispatcher& dispatcher) noexcept { dispatcher_.store(&dispatcher); }

 private:
  realtime::Semaphore stopped_;         // for the thread that spins: posted after stop_ was set
  std::atomic<bool> closed_{false};     // never cleared
  std::atomic<bool> spinning_{false};   // the thread that sets it is the one that spins
  std::atomic<bool> one_ended_{false};  // for kOne
  std::atomic<bool> started_{false};    // all threads of this spin exist
  std::atomic<std::int64_t> deadline_ns_{0};
  std::atomic<Dispatcher*> dispatcher_{nullptr};  // set by `prepare`
  realtime::EventCount caller_wakeup_;
  realtime::EventCount start_;
  std::atomic_flag failed_;  // the thread that sets it first owns error_ until spin has joined it
  std::exception_ptr error_;

  // Every instance reads the following members. limit_ is written before the threads start and
  // after they have ended; relaxed where instances end.
  alignas(64) std::atomic<SpinLimit> limit_{SpinLimit::kNone};
  // Set by cancel or fail, cleared by spin when it returns: a cancel before spin is not lost.
  std::atomic<bool> stop_{false};
};

}  // namespace rclrt::executor
