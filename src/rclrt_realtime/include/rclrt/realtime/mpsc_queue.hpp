// SPDX-License-Identifier: Apache-2.0
// A bounded queue from many producers to one consumer that never allocates after construction.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Bounded multi-producer, single-consumer queue of trivially copyable values, after D. Vyukov's
/// bounded queue: each cell has a sequence number that shows whether a producer or the consumer may
/// use it.
///
/// Any thread may call `try_push`; only one thread at a time may call `try_pop`. A push takes a
/// bounded number of steps unless other pushes succeed meanwhile. A producer that is preempted in
/// the middle of a push delays the consumer, never another producer: use it from real-time
/// producers to a consumer without deadlines (records, log lines), not the other way round.
///
/// Memory order: a cell's `sequence` is stored with release after its value was written or read,
/// and loaded with acquire before the value is accessed, so the value needs no ordering of its own.
/// `head_` only hands out cells: relaxed is enough.
template <typename T, typename Atomics = StdAtomics>
class MpscQueue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Makes a queue for `capacity` values, rounded up to a power of two and at least 2 (with one
  /// cell, "full" and "free again" would be the same sequence number). Throws std::invalid_argument
  /// if `capacity` is zero, and std::bad_alloc.
  RCLRT_SETUP explicit MpscQueue(std::size_t capacity)
      : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1),
        cells_(std::make_unique<Cell[]>(mask_ + 1)) {
    if (capacity == 0) {
      throw std::invalid_argument("MpscQueue: capacity must be at least 1");
    }
    for (std::size_t i = 0; i <= mask_; ++i) {
      cells_[i].sequence.store(i, std::memory_order_relaxed);  // no other thread has the queue yet
    }
  }

  std::size_t capacity() const noexcept RCLRT_NONBLOCKING { return mask_ + 1; }

  /// Returns false when the queue is full; the value is then not stored.
  bool try_push(const T& value) noexcept RCLRT_NONBLOCKING {
    std::size_t position = head_.load(std::memory_order_relaxed);  // only hands out cells
    for (;;) {
      Cell& cell = cells_[position & mask_];
      // PAIRS WITH: try_pop(), which has freed the cell
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == position) {
        if (head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
          Atomics::writing(cell.value);
          cell.value = value;
          cell.sequence.store(position + 1, std::memory_order_release);  // PAIRS WITH: try_pop()
          return true;
        }
      } else if (static_cast<std::ptrdiff_t>(sequence - position) < 0) {
        return false;  // the consumer has not yet freed this cell: full
      } else {
        position = head_.load(std::memory_order_relaxed);
      }
    }
  }

  /// Returns false when the queue is empty (or its oldest push is still under way).
  bool try_pop(T& value) noexcept RCLRT_NONBLOCKING {
    Cell& cell = cells_[tail_ & mask_];
    // PAIRS WITH: try_push()
    if (cell.sequence.load(std::memory_order_acquire) != tail_ + 1) {
      return false;
    }
    Atomics::reading(cell.value);
    value = cell.value;
    cell.sequence.store(tail_ + mask_ + 1, std::memory_order_release);  // PAIRS WITH: try_push()
    ++tail_;
    return true;
  }

 private:
  struct Cell {
    Atomics::template Atomic<std::size_t> sequence;
    T value;
  };

  const std::size_t mask_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(kCacheLine) Atomics::template Atomic<std::size_t> head_{0};
  alignas(kCacheLine) std::size_t tail_{0};  // accessed only by the consumer
};

}  // namespace rclrt::realtime
