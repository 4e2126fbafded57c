// SPDX-License-Identifier: Apache-2.0
// A bounded queue from one producer to one consumer: wait-free, no allocation after construction.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Bounded single-producer, single-consumer queue. Only one thread at a time may call the
/// producer's functions, and only one thread at a time the consumer's. All of them are wait-free.
///
/// T needs a default constructor and a move assignment that do not throw. Clang's function effects
/// reject a T with a move assignment that may free memory (std::unique_ptr), because popping into a
/// variable that still owns an object would free it. A popped cell keeps a moved-from T until it is
/// used again.
///
/// A ring after L. Lamport, "Proving the Correctness of Multiprocess Programs" (1977). Each side
/// keeps a copy of the other's index and reads the index again only if the copy indicates full or
/// empty (J. Giacomoni et al., "FastForward", 2008, gives the reason: the cache line of the other's
/// index then moves once for many values).
///
/// Invariant: 0 <= head_ - tail_ <= capacity; cells [tail_, head_) belong to the consumer, the
/// others to the producer. Indices only grow (and wrap around); a copy is never ahead of its index.
///
/// Memory order: only one thread writes an index, and it may read its own index relaxed. It stores
/// the index with release after the cell was written (head_) or moved out (tail_). The other side
/// loads the index with acquire before it accesses those cells.
template <typename T, typename Atomics = StdAtomics>
class SpscQueue {
  static_assert(std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);

 public:
  /// Makes a queue for `capacity` values, rounded up to a power of two. Throws
  /// std::invalid_argument if `capacity` is zero, and std::bad_alloc.
  RCLRT_SETUP explicit SpscQueue(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), cells_(std::make_unique<T[]>(mask_ + 1)) {
    if (capacity == 0) {
      throw std::invalid_argument("SpscQueue: capacity must be at least 1");
    }
  }

  std::size_t capacity() const noexcept RCLRT_NONBLOCKING { return mask_ + 1; }

  /// Stores a value; called by the producer. Returns false if the queue is full; `value` is then
  /// unchanged.
  bool try_push(const T& value) noexcept RCLRT_NONBLOCKING
    requires std::is_nothrow_copy_assignable_v<T>
  {
    return push(value);
  }
  bool try_push(T&& value) noexcept RCLRT_NONBLOCKING { return push(std::move(value)); }

  /// Moves the oldest value to `value`; called by the consumer. Returns false if the queue is
  /// empty; `value` is then unchanged.
  bool try_pop(T& value) noexcept RCLRT_NONBLOCKING {
    // relaxed: only this thread writes it
    const std::size_t tail = consumer_.tail.load(std::memory_order_relaxed);
    if (is_empty(tail)) {
      return false;
    }
    value = std::move(cell(tail));
    consumer_.tail.store(tail + 1, std::memory_order_release);  // PAIRS WITH: push()
    return true;
  }

  /// Returns a pointer to the oldest value, valid until `pop`; nullptr if the queue is empty.
  /// Called by the consumer.
  T* front() noexcept RCLRT_NONBLOCKING {
    // relaxed: only this thread writes it
    const std::size_t tail = consumer_.tail.load(std::memory_order_relaxed);
    return is_empty(tail) ? nullptr : &cell(tail);
  }

  /// Removes the value that `front` returned. Call it only if `front` did not return nullptr.
  /// Called by the consumer.
  void pop() noexcept RCLRT_NONBLOCKING {
    // relaxed: only this thread writes it
    const std::size_t tail = consumer_.tail.load(std::memory_order_relaxed);
    consumer_.tail.store(tail + 1, std::memory_order_release);  // PAIRS WITH: push()
  }

  /// Returns the number of queued values; it may be out of date at once. Thread-safe.
  std::size_t size_approx() const noexcept RCLRT_NONBLOCKING {
    // The tail first: it never overtakes a head read later. Both may have moved meanwhile.
    const std::size_t tail = consumer_.tail.load(std::memory_order_acquire);
    const std::size_t size = producer_.head.load(std::memory_order_relaxed) - tail;
    return size < capacity() ? size : capacity();
  }

 private:
  template <typename U>
  bool push(U&& value) noexcept RCLRT_NONBLOCKING {
    // relaxed: only this thread writes it
    const std::size_t head = producer_.head.load(std::memory_order_relaxed);
    if (head - producer_.tail_copy > mask_) {
      // PAIRS WITH: try_pop() and pop()
      producer_.tail_copy = consumer_.tail.load(std::memory_order_acquire);
      if (head - producer_.tail_copy > mask_) {
        return false;
      }
    }
    cell(head) = std::forward<U>(value);
    producer_.head.store(head + 1, std::memory_order_release);  // PAIRS WITH: is_empty()
    return true;
  }

  /// Returns whether the queue is empty (consumer).
  bool is_empty(std::size_t tail) noexcept RCLRT_NONBLOCKING {
    if (tail != consumer_.head_copy) {
      return false;
    }
    consumer_.head_copy = producer_.head.load(std::memory_order_acquire);  // PAIRS WITH: push()
    return tail == consumer_.head_copy;
  }

  /// Returns the cell; the caller owns it, by the invariant, and may change it.
  T& cell(std::size_t index) noexcept RCLRT_NONBLOCKING {
    T& owned = cells_[index & mask_];
    Atomics::writing(owned);
    return owned;
  }

  using Index = Atomics::template Atomic<std::size_t>;
  struct alignas(kCacheLine) Producer {
    Index head{0};
    std::size_t tail_copy = 0;  // used only by the producer
  };
  struct alignas(kCacheLine) Consumer {
    Index tail{0};
    std::size_t head_copy = 0;  // used only by the consumer
  };

  const std::size_t mask_;
  const std::unique_ptr<T[]> cells_;
  Producer producer_;
  Consumer consumer_;
};

}  // namespace rclrt::realtime
