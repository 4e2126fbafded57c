// SPDX-License-Identifier: Apache-2.0
// Waits until no thread is inside a piece of code any more.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Counts the threads that are inside a protected section, and lets another thread wait until no
/// thread is inside. After that, the waiting thread may destroy or replace the objects that they
/// used. Entering and leaving are wait-free and take one read-modify-write each. Only the last
/// thread that leaves makes a system call, and only if a thread waits.
///
///     const QuiescenceGuard::Inside inside(guard);   // for its scope
///     if (inside.allowed()) { listener->notify(); }
///
///     guard.close();             // no thread enters any more, and none is inside
///     listener = nullptr;
///
/// All state is in one word: whether the guard is closed, whether a thread waits, and the number of
/// threads inside. So the modification order of that word decides between thread A, which enters,
/// and thread B, which closes, waits or asks `is_empty`:
/// * if A is earlier, B counts it;
/// * if A is later, it sees that the guard is closed, and everything that B wrote before.
///
/// After the read-modify-write of `leave` the thread uses only the address of the guard, which it
/// passes to the kernel. So the waiting thread may free the guard at once. (Another futex at the
/// same address then gets a spurious wake-up, which each user of a futex tolerates.)
///
/// Invariant: a sleeping thread has set kAwaited, and kAwaited has been set since then. It is
/// cleared only while no thread is inside. So the last thread that leaves sees it, and wakes all
/// sleepers.
///
/// For `Atomics` see atomics.hpp; `test/interleaving_waits_test.cpp` runs this code under every
/// interleaving of a small case.
template <typename Atomics = StdAtomics>
class BasicQuiescenceGuard {
 public:
  /// Makes a closed guard.
  BasicQuiescenceGuard() = default;
  BasicQuiescenceGuard(const BasicQuiescenceGuard&) = delete;
  BasicQuiescenceGuard& operator=(const BasicQuiescenceGuard&) = delete;

  /// Enters, open or closed. `leave` follows, on any thread.
  void enter() noexcept RCLRT_NONBLOCKING {
    // PAIRS WITH: itself, open(), close(), wait_until_empty() and is_empty()
    word_.fetch_add(kThread, std::memory_order_acq_rel);
  }

  /// Enters if the guard is open; then `leave` follows. Returns false if it is closed.
  bool try_enter() noexcept RCLRT_NONBLOCKING {
    // PAIRS WITH: as enter()
    if ((word_.fetch_add(kThread, std::memory_order_acq_rel) & kClosed) == 0) {
      return true;
    }
    leave();
    return false;
  }

  /// Leaves the section. This is the thread's last access to everything that the guard protects,
  /// and to the guard itself.
  void leave() noexcept RCLRT_NONBLOCKING {
    // PAIRS WITH: wait_until_empty() and is_empty()
    const std::uint32_t before = word_.fetch_sub(kThread, std::memory_order_release);
    if ((before & ~kClosed) == (kThread | kAwaited)) {
      Atomics::wake(word_, INT32_MAX);
    }
  }

  /// Enters for its scope, if the guard is open.
  class Inside {
   public:
    /// Enters if the guard is open. The guard must outlive this object.
    explicit Inside(BasicQuiescenceGuard& guard) noexcept RCLRT_NONBLOCKING
        : guard_(guard),
          allowed_(guard.try_enter()) {}
    ~Inside() RCLRT_NONBLOCKING {
      if (allowed_) {
        guard_.leave();
      }
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    /// Returns whether the guard was open: the thread is inside.
    bool allowed() const noexcept RCLRT_NONBLOCKING { return allowed_; }

   private:
    BasicQuiescenceGuard& guard_;
    const bool allowed_;
  };

  /// Opens the guard. A thread that `try_enter` has refused called it before the guard was opened,
  /// and what that thread wrote before is visible after this call.
  void open() noexcept RCLRT_NONBLOCKING { set_closed(0); }

  /// Closes the guard, and waits until no thread is inside.
  void close() noexcept RCLRT_WAITS {
    set_closed(kClosed);
    wait_until_empty();
  }

  /// Waits until no thread is inside, or until CLOCK_MONOTONIC reaches `deadline_ns`. Returns
  /// whether no thread is inside. Threads that enter meanwhile prolong the wait.
  bool wait_until_empty(std::int64_t deadline_ns = kForever) noexcept RCLRT_WAITS {
    std::uint32_t word = read();
    while (threads_in(word) != 0) {
      if (deadline_ns != kForever && monotonic_now_ns() >= deadline_ns) {
        return false;
      }
      if ((word & kAwaited) == 0) {
        // acquire: if it fails, it may find that the last thread has left. PAIRS WITH: leave()
        if (!word_.compare_exchange_weak(word, word | kAwaited, std::memory_order_acquire)) {
          continue;
        }
        word |= kAwaited;
      }
      Atomics::wait_while(word_, word, deadline_ns);
      word = word_.load(std::memory_order_acquire);  // PAIRS WITH: leave()
    }
    // If a thread enters meanwhile, the flag stays: another thread may already sleep for that one.
    while (threads_in(word) == 0 && (word & kAwaited) != 0) {
      // relaxed: it changes only the flag, which the modification order of the word protects
      if (word_.compare_exchange_weak(word, word & ~kAwaited, std::memory_order_relaxed)) {
        break;
      }
    }
    return true;
  }

  /// Returns whether no thread is inside. If the result is true, threads that enter later see what
  /// the caller has written before this call.
  bool is_empty() const noexcept RCLRT_NONBLOCKING { return threads_in(read()) == 0; }

  static constexpr std::int64_t kForever = INT64_MAX;

 private:
  static constexpr std::uint32_t kClosed = 1;
  static constexpr std::uint32_t kAwaited = 2;
  static constexpr std::uint32_t kThread = 4;  // the unit of the count

  static std::uint32_t threads_in(std::uint32_t word) noexcept RCLRT_NONBLOCKING {
    return word / kThread;
  }

  /// Reads the word by a read-modify-write, so that the modification order holds for the caller.
  std::uint32_t read() const noexcept RCLRT_NONBLOCKING {
    // PAIRS WITH: enter() and try_enter(), both ways; leave()
    return word_.fetch_add(0, std::memory_order_acq_rel);
  }

  void set_closed(std::uint32_t closed) noexcept RCLRT_NONBLOCKING {
    std::uint32_t word = word_.load(std::memory_order_relaxed);  // only a prediction
    // PAIRS WITH: try_enter(), both ways
    while (
        !word_.compare_exchange_weak(word, (word & ~kClosed) | closed, std::memory_order_acq_rel)) {
    }
  }

  mutable Atomics::Futex word_{kClosed};
};

/// The guard for all code but the interleaving tests.
using QuiescenceGuard = BasicQuiescenceGuard<>;

}  // namespace rclrt::realtime
