// SPDX-License-Identifier: Apache-2.0
// A ring of records of any size from one thread to another, without allocation.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Bounded queue of byte records from one producer thread to one consumer thread. Each record is
/// contiguous: the producer writes it in place and the consumer reads it in place. The ring does
/// not store sizes; each record must contain its own size.
///
///     if (std::byte* to = ring.try_reserve(16)) { /* write 16 bytes */ ring.commit(16); }
///
///     ring.refresh();
///     while (const std::byte* record = ring.front()) { /* read n bytes */ ring.pop(n); }
///
/// Sizes are multiples of 8, so that records are aligned to 8. Wait-free on both sides.
///
/// Positions count bytes since the beginning and never wrap in practice (2^64). The record at
/// position p begins at `p & mask_`. It may run past the end of the ring into a spill area as large
/// as the largest record; no record begins there. So a record needs neither padding nor two parts.
///
/// Memory order: `head_` is stored with release after a record was written and loaded with acquire
/// before it is read; `tail_` is stored with release after a record was read and loaded with
/// acquire before its bytes are written again. Each is written by one thread, which reads it back
/// relaxed. `dropped_` orders nothing.
class ByteRing {
 public:
  static constexpr std::size_t kAlignment = 8;

  /// Makes a ring of `capacity` bytes, rounded up to a power of two, for records of at most
  /// `max_record` bytes. All memory is touched. Throws std::bad_alloc, or std::invalid_argument
  /// unless 0 < max_record <= capacity.
  RCLRT_SETUP ByteRing(std::size_t capacity, std::size_t max_record)
      : capacity_(std::bit_ceil(capacity)), mask_(capacity_ - 1) {
    if (max_record == 0 || max_record > capacity) {
      throw std::invalid_argument("ByteRing: a record must be at least 1 byte and fit the ring");
    }
    const std::size_t size = capacity_ + max_record;
    storage_.reset(new (std::align_val_t{kCacheLine}) std::byte[size]{});
    room_end_ = capacity_;
  }

  std::size_t capacity() const noexcept RCLRT_NONBLOCKING { return capacity_; }

  /// Returns the address at which to write a record of `size` bytes. If the ring has no room for
  /// the record, returns nullptr and counts one dropped record. The consumer sees the record only
  /// after `commit`. Called by the producer.
  std::byte* try_reserve(std::size_t size) noexcept RCLRT_NONBLOCKING {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (room_end_ - head < size) [[unlikely]] {
      room_end_ = tail_.load(std::memory_order_acquire) + capacity_;  // PAIRS WITH: pop()
      if (room_end_ - head < size) {
        // relaxed: a count that only this thread changes
        dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return nullptr;
      }
    }
    return storage_.get() + (head & mask_);
  }

  /// Sends the `size` bytes reserved last (producer).
  void commit(std::size_t size) noexcept RCLRT_NONBLOCKING {
    // PAIRS WITH: refresh(). relaxed: this thread has written it
    head_.store(head_.load(std::memory_order_relaxed) + size, std::memory_order_release);
  }

  /// Makes the records sent so far visible to `front`, and no later ones (consumer).
  void refresh() noexcept RCLRT_NONBLOCKING {
    seen_ = head_.load(std::memory_order_acquire);  // PAIRS WITH: commit()
  }

  /// Returns the oldest record; nullptr if all records that the last `refresh` saw have been
  /// popped. Called by the consumer.
  const std::byte* front() const noexcept RCLRT_NONBLOCKING {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail == seen_ ? nullptr : storage_.get() + (tail & mask_);
  }

  /// Gives the `size` bytes of the oldest record back to the producer (consumer).
  void pop(std::size_t size) noexcept RCLRT_NONBLOCKING {
    // PAIRS WITH: try_reserve(). relaxed: this thread has written it
    tail_.store(tail_.load(std::memory_order_relaxed) + size, std::memory_order_release);
  }

  /// Returns the number of dropped records. Thread-safe.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  struct Free {
    void operator()(std::byte* storage) const noexcept {
      operator delete[](storage, std::align_val_t{kCacheLine});
    }
  };

  const std::size_t capacity_;
  const std::size_t mask_;
  std::unique_ptr<std::byte[], Free> storage_;

  // The producer's line.
  alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
  std::uint64_t room_end_ = 0;  // position up to which the producer knows it may write
  std::atomic<std::uint64_t> dropped_{0};

  // The consumer's line.
  alignas(kCacheLine) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t seen_ = 0;  // head_ at the last refresh
};

}  // namespace rclrt::realtime
