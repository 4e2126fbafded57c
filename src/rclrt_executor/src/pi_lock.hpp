// SPDX-License-Identifier: Apache-2.0
// The mutex of the hot path.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// A mutex with priority inheritance, as realtime::PiMutex, for sections of a few instructions that
/// every instance executes. If it is free, locking and unlocking are one inlined compare-and-swap
/// each. (The functions of the C library have a dozen branches. After a millisecond of sleep their
/// code is in no cache, and executing them would take half a microsecond for each instance.)
/// Incorrect use is not detected. If a thread ends while it holds the lock, the lock stays locked
/// for ever.
///
/// `word_` has the format of the kernel (futex(2), FUTEX_LOCK_PI): 0 if the lock is free, otherwise
/// the owner's thread ID, with a flag if a thread waits. A thread that finds another value than it
/// expects makes the system call.
class PiLock {
 public:
  RCLRT_SETUP PiLock();
  PiLock(const PiLock&) = delete;
  PiLock& operator=(const PiLock&) = delete;

  void lock() noexcept RCLRT_WAITS {
    std::uint32_t free = 0;
    // acquire; PAIRS WITH: the release in `unlock`. The next holder of the lock sees all writes of
    // the last holder.
    if (!word_.compare_exchange_strong(free, this_thread(), std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      wait();
    }
  }
  void unlock() noexcept RCLRT_NONBLOCKING {
    std::uint32_t own = this_thread();
    // release; PAIRS WITH: lock(). relaxed if it fails: then hand_over() is the release.
    if (!word_.compare_exchange_strong(own, 0, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      hand_over();
    }
  }

 private:
  /// Returns the kernel's thread ID of the calling thread.
  static std::uint32_t this_thread() noexcept RCLRT_NONBLOCKING {
    const std::uint32_t known =
        RCLRT_TRUST("a constant-initialised variable of the thread", number_);
    return known != 0 ? known : ask_number();
  }
  static std::uint32_t ask_number() noexcept RCLRT_NONBLOCKING;
  void wait() noexcept RCLRT_WAITS;
  void hand_over() noexcept RCLRT_NONBLOCKING;

  static constinit thread_local std::uint32_t number_;  // 0: not known yet

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace rclrt::executor
