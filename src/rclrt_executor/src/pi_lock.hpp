// SPDX-License-Identifier: Apache-2.0
// The mutex of the hot path.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// A mutex with priority inheritance, as realtime::PiMutex, for sections of a few instructions on
/// the path of every instance: when it is free, locking and unlocking are one inlined
/// compare-and-swap each. (The C library's are calls with a dozen of branches, which after a
/// millisecond of sleep are in no cache: half a microsecond of a dispatch.) Nobody checks that it
/// is used rightly, and a thread that ends while holding it holds it for ever.
///
/// `word_` is what the kernel asks for (futex(2), FUTEX_LOCK_PI): 0 when free, else its owner's
/// number, with a flag when somebody waits. Who finds another value than it expects leaves the
/// rest to the kernel.
class PiLock {
 public:
  RCLRT_SETUP PiLock();
  PiLock(const PiLock&) = delete;
  PiLock& operator=(const PiLock&) = delete;

  void lock() noexcept RCLRT_WAITS {
    std::uint32_t free = 0;
    // acquire, as the release of `unlock`: what one holder did, the next one sees.
    if (!word_.compare_exchange_strong(free, this_thread(), std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      wait();
    }
  }
  void unlock() noexcept RCLRT_NONBLOCKING {
    std::uint32_t own = this_thread();
    if (!word_.compare_exchange_strong(own, 0, std::memory_order_release,
                                       std::memory_order_relaxed)) {
      hand_over();
    }
  }

 private:
  /// The kernel's number of the calling thread.
  static std::uint32_t this_thread() noexcept RCLRT_NONBLOCKING {
    const std::uint32_t known =
        RCLRT_TRUST("a constant-initialised variable of the thread", number_);
    return known != 0 ? known : ask_number();
  }
  static std::uint32_t ask_number() noexcept RCLRT_NONBLOCKING;
  void wait() noexcept RCLRT_WAITS;
  void hand_over() noexcept RCLRT_NONBLOCKING;

  static constinit thread_local std::uint32_t number_;  // 0: not asked yet

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace rclrt::executor
