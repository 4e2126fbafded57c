// SPDX-License-Identifier: Apache-2.0
// The newest value of one writer for many readers; neither side ever waits for the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// One writer publishes, many readers see the most recently published value, complete. Writing and
/// reading are wait-free: a write inspects at most max_readers + 2 slots and a read takes three
/// steps, whatever other threads do. Each copies the value once. A reader that has seen a value
/// never sees an older one afterwards.
///
///     LatestValue<Pose> pose(2);            // configure: at most two readers
///     auto reader = pose.reader();          // one for each reading thread
///     pose.write({1, 2, 3});                // the writer
///     const Pose now = reader.read();       // a reader
///
/// Algorithm: ARC, M. Ianni, A. Pellegrini, F. Quaglia, "A Wait-free Multi-word Atomic (1,N)
/// Register for Large-scale Data Sharing on Multi-core Machines" (arXiv:1707.07478), with counters
/// that only grow and seats in place of anonymous readers.
///
/// There are max_readers + 2 slots. `current_` is one word: the slot of the newest value and the
/// number of readers that took that slot since it was published. A reader holds exactly one slot
/// from one read to the next. When `current_` names another slot, the reader gives its own slot
/// back (`released`) and takes the new one by adding 1 to `current_`. This addition also returns
/// the index of the new slot.
///
/// Invariant: a slot that is not current is held by `taken` - `released` readers (the exchange that
/// replaces the current slot updates its `taken`). The writer writes only to a slot that is not
/// current and that no reader holds. At most max_readers slots are held and one is current, so one
/// is always free. A held slot is not reused: a reader that holds the current slot has the newest
/// value already, and needs no read-modify-write to detect it.
///
/// Memory order:
/// * `current_`: the exchange that publishes is a release, and the `fetch_add` that takes a slot is
///   an acquire, so the value is written before it is read. Each `fetch_add` of another reader
///   between the two continues the release sequence. The load that compares `current_` with the
///   held slot may be relaxed: the value was acquired when the slot was taken, and coherence keeps
///   the load from returning an older slot.
/// * `released`: each `fetch_add` is a release after the reader's last access to the value; the
///   writer acquires the count before it writes to the slot again. All these operations form one
///   release sequence, so the full count means that all those reads are over.
///
/// `test/interleaving_test.cpp` runs this code under every interleaving of a small case.
template <typename T, typename Atomics = StdAtomics>
class LatestValue {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
  struct Seat;

 public:
  /// Reads the value in one thread. Movable. Not thread-safe: only one thread may use it at a time.
  /// Must not outlive the LatestValue.
  class Reader {
   public:
    Reader(Reader&& other) noexcept
        : source_(other.source_), seat_(std::exchange(other.seat_, nullptr)) {}
    Reader& operator=(Reader&& other) noexcept {
      std::swap(source_, other.source_);
      std::swap(seat_, other.seat_);
      return *this;
    }
    ~Reader() {
      if (seat_ != nullptr) {
        seat_->occupied.store(false, std::memory_order_release);  // with `held`
      }
    }

    /// Returns the newest value, by copy.
    T read() noexcept RCLRT_NONBLOCKING { return view(); }

    /// Returns a reference to the newest value, without a copy, for large T. The value stays
    /// complete and unchanged until this reader's next `read` or `view`.
    const T& view() noexcept RCLRT_NONBLOCKING {
      if (changed()) {
        // PAIRS WITH: free_slot()
        source_->slots_[seat_->held].released.fetch_add(1, std::memory_order_release);
        // PAIRS WITH: write()
        seat_->held = slot_of(source_->current_.fetch_add(1, std::memory_order_acquire));
      }
      const T& value = source_->slots_[seat_->held].value;
      Atomics::reading(value);
      return value;
    }

    /// Returns true when a newer value was published than this reader last read.
    bool changed() const noexcept RCLRT_NONBLOCKING {
      return slot_of(source_->current_.load(std::memory_order_relaxed)) != seat_->held;
    }

   private:
    friend class LatestValue;
    Reader(LatestValue* source, Seat* seat) noexcept : source_(source), seat_(seat) {}

    LatestValue* source_;
    Seat* seat_;
  };

  static constexpr std::size_t kMostReaders = 0xFFFF - 2;

  /// Makes a value for at most `max_readers` readers. Readers see `initial` until the first write.
  /// Throws std::invalid_argument if `max_readers` is zero or more than kMostReaders, and
  /// std::bad_alloc.
  RCLRT_SETUP explicit LatestValue(std::size_t max_readers, const T& initial = T{})
      : max_readers_(checked(max_readers)),
        slots_(std::make_unique<Slot[]>(max_readers + 2)),
        seats_(std::make_unique<Seat[]>(max_readers)),
        current_(static_cast<std::uint32_t>(max_readers)) {  // every seat holds slot 0
    slots_[0].value = initial;
  }

  /// Returns a Reader for one more reading thread. It occupies one of `max_readers` seats until it
  /// is destroyed. Throws std::length_error if all seats are in use. Thread-safe.
  RCLRT_SETUP Reader reader() {
    for (std::size_t i = 0; i < max_readers_; ++i) {
      // acquire: makes the `held` of the seat's previous user visible
      if (!seats_[i].occupied.exchange(true, std::memory_order_acquire)) {
        return Reader(this, &seats_[i]);
      }
    }
    throw std::length_error("LatestValue: all " + std::to_string(max_readers_) +
                            " readers are in use; construct it with a larger max_readers");
  }

  /// Publishes `value`. Only one thread may write at a time.
  void write(const T& value) noexcept RCLRT_NONBLOCKING {
    const std::uint32_t slot = free_slot();
    Atomics::writing(slots_[slot].value);
    slots_[slot].value = value;
    // PAIRS WITH: view()
    const std::uint32_t before = current_.exchange(slot << kSlotShift, std::memory_order_release);
    slots_[slot_of(before)].taken += before & kCountMask;
    newest_ = slot;
  }

 private:
  static constexpr unsigned kSlotShift = 16;
  static constexpr std::uint32_t kCountMask = 0xFFFF;

  struct alignas(kCacheLine) Slot {
    Atomics::template Atomic<std::uint32_t> released{0};  // wraps around, as `taken` does
    std::uint32_t taken = 0;                              // used only by the writer
    T value{};
  };
  struct alignas(kCacheLine) Seat {
    std::uint32_t held = 0;  // belongs to the reader that set `occupied`
    std::atomic<bool> occupied{false};
  };

  static std::size_t checked(std::size_t max_readers) {
    if (max_readers == 0 || max_readers > kMostReaders) {
      throw std::invalid_argument("LatestValue: max_readers must be 1.." +
                                  std::to_string(kMostReaders));
    }
    return max_readers;
  }

  static std::uint32_t slot_of(std::uint32_t word) noexcept RCLRT_NONBLOCKING {
    return word >> kSlotShift;
  }

  /// Returns a free slot; takes at most max_readers + 2 steps, see the invariant.
  std::uint32_t free_slot() const noexcept RCLRT_NONBLOCKING {
    const auto slots = static_cast<std::uint32_t>(max_readers_ + 2);
    std::uint32_t slot = newest_;
    do {
      slot = slot + 1 == slots ? 0 : slot + 1;
      // acquire; PAIRS WITH: view(), where the reader gives the slot back
    } while (slot == newest_ ||
             slots_[slot].released.load(std::memory_order_acquire) != slots_[slot].taken);
    return slot;
  }

  const std::size_t max_readers_;
  const std::unique_ptr<Slot[]> slots_;
  const std::unique_ptr<Seat[]> seats_;
  alignas(kCacheLine) Atomics::template Atomic<std::uint32_t> current_;
  alignas(kCacheLine) std::uint32_t newest_ = 0;  // the writer's copy of current_'s slot
};

}  // namespace rclrt::realtime
