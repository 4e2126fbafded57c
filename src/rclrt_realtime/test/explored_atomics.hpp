// SPDX-License-Identifier: Apache-2.0
// Atomics that the explorer schedules, for the `Atomics` parameter of the lock-free structures.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "interleaving_explorer.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::test {

/// `Order` maps each memory order to the order that is used: the identity, or a mistake that the
/// explorer must find.
template <std::memory_order (*Order)(std::memory_order)>
struct ExploredWith {
  template <typename T>
  class Atomic {
   public:
    Atomic() : Atomic(T{}) {}
    explicit(false) Atomic(T value) : variable_(Explorer::current()->new_variable(bits(value))) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order = std::memory_order_seq_cst) const noexcept RCLRT_NONBLOCKING {
      return static_cast<T>(
          RCLRT_TRUST("a test", Explorer::current()->load(variable_, Order(order))));
    }

    void store(T value,
               std::memory_order order = std::memory_order_seq_cst) noexcept RCLRT_NONBLOCKING {
      RCLRT_TRUST("a test", Explorer::current()->store(variable_, bits(value), Order(order)));
    }

    T exchange(T value,
               std::memory_order order = std::memory_order_seq_cst) noexcept RCLRT_NONBLOCKING {
      return RCLRT_TRUST("a test", update(order, order, [&](std::uint64_t& now) {
                           now = bits(value);
                           return true;
                         }));
    }

    T fetch_add(T value,
                std::memory_order order = std::memory_order_seq_cst) noexcept RCLRT_NONBLOCKING {
      return RCLRT_TRUST("a test", update(order, order, [&](std::uint64_t& now) {
                           now = bits(static_cast<T>(static_cast<T>(now) + value));
                           return true;
                         }));
    }

    T fetch_sub(T value,
                std::memory_order order = std::memory_order_seq_cst) noexcept RCLRT_NONBLOCKING {
      return fetch_add(static_cast<T>(T{} - value), order);
    }

    bool compare_exchange_weak(T& expected, T value,
                               std::memory_order order = std::memory_order_seq_cst) noexcept
        RCLRT_NONBLOCKING {
      const auto failure = order == std::memory_order_acq_rel   ? std::memory_order_acquire
                           : order == std::memory_order_release ? std::memory_order_relaxed
                                                                : order;
      return compare_exchange_strong(expected, value, order, failure);
    }

    bool compare_exchange_strong(T& expected, T value, std::memory_order order,
                                 std::memory_order failure) noexcept RCLRT_NONBLOCKING {
      const T wanted = expected;
      expected = RCLRT_TRUST("a test", update(order, failure, [&](std::uint64_t& now) {
                               const bool equal = now == bits(wanted);
                               now = equal ? bits(value) : now;
                               return equal;
                             }));
      return expected == wanted;
    }

   private:
    friend ExploredWith;
    static std::uint64_t bits(T value) noexcept { return static_cast<std::uint64_t>(value); }
    T update(std::memory_order order, std::memory_order failure,
             const std::function<bool(std::uint64_t&)>& change) {
      return static_cast<T>(
          Explorer::current()->update(variable_, Order(order), Order(failure), change));
    }
    std::size_t variable_;
  };

  using Futex = Atomic<std::uint32_t>;
  static void wait_while(const Futex& word, std::uint32_t value,
                         std::int64_t /*never*/) noexcept RCLRT_WAITS {
    Explorer::current()->wait_while(word.variable_, value);
  }
  static int wake(const Futex& word, int count) noexcept RCLRT_NONBLOCKING {
    return RCLRT_TRUST("a test", Explorer::current()->wake(word.variable_, count));
  }

  template <typename T>
  static void reading(const T& shared) noexcept RCLRT_NONBLOCKING {
    // NOLINTNEXTLINE(bugprone-exception-escape): a throw would end the test
    RCLRT_TRUST("a test", Explorer::current()->touch(&shared, false));
  }
  template <typename T>
  static void writing(const T& shared) noexcept RCLRT_NONBLOCKING {
    // NOLINTNEXTLINE(bugprone-exception-escape): a throw would end the test
    RCLRT_TRUST("a test", Explorer::current()->touch(&shared, true));
  }
};

inline std::memory_order as_written(std::memory_order order) { return order; }
inline std::memory_order without_release(std::memory_order order) {
  return order == std::memory_order_release   ? std::memory_order_relaxed
         : order == std::memory_order_acq_rel ? std::memory_order_acquire
                                              : order;
}
inline std::memory_order without_acquire(std::memory_order order) {
  return order == std::memory_order_acquire   ? std::memory_order_relaxed
         : order == std::memory_order_acq_rel ? std::memory_order_release
                                              : order;
}
inline std::memory_order without_seq_cst(std::memory_order order) {
  return order == std::memory_order_seq_cst ? std::memory_order_acq_rel : order;
}
using Explored = ExploredWith<as_written>;

}  // namespace rclrt::test
