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
/// reading are wait-free: a write looks at max_readers + 2 slots at most and a read takes three
/// steps, whatever the others do, and each copies the value once. A reader that has seen a value
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
/// There are max_readers + 2 slots. `current_` is one word: the slot of the newest value and how
/// many readers took that slot since it was published. A reader holds exactly one slot from one
/// read to the next. When `current_` names another slot it gives its own back (`released`) and
/// takes the new one by adding 1 to `current_`, which also tells it which slot that is.
///
/// Invariant: slot s is held by `taken` - `released` readers when it is not current (`taken` is
/// brought up to date by the exchange that ends its being current), and the writer writes only to a
/// slot that is not current and held by nobody. At most max_readers slots are held and one is
/// current, so one is always free. A held slot is not reused: a reader whose slot is the current
/// one has the newest value already, and needs no read-modify-write to know it.
///
/// Memory order:
/// * `current_`: the exchange that publishes is a release, the fetch_add that takes an acquire, so
///   the value is written before it is read. Other readers' fetch_adds between the two continue the
///   release sequence. The look that finds "still my slot" may be relaxed: that value was acquired
///   when the slot was taken, and coherence keeps the look from going back to an older slot.
/// * `released`: each fetch_add is a release after the reader's last look at the value; the writer
///   acquires the count before it writes there again. All fetch_adds are one release sequence, so
///   seeing the full count means that all those reads are over.
///
/// `test/interleaving_test.cpp` runs this code under every interleaving of a small case.
template <typename T, typename Atomics = StdAtomics>
class LatestValue {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
  struct Seat;

 public:
  /// The place of one reading thread. Movable; not thread-safe itself: one thread uses it at a
  /// time. Must not outlive the LatestValue.
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
        seat_->occupied.store(false, std::memory_order_release);  // `held` goes with the seat
      }
    }

    /// Returns the newest value, by copy.
    T read() noexcept RCLRT_NONBLOCKING { return view(); }

    /// Returns the newest value in place, for large T: it stays complete and unchanged until this
    /// reader's next `read` or `view`.
    const T& view() noexcept RCLRT_NONBLOCKING {
      if (changed()) {
        source_->slots_[seat_->held].released.fetch_add(1, std::memory_order_release);
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

  /// Makes a value; readers see `initial` until the first write. Throws std::invalid_argument for
  /// zero or more than kMostReaders readers, and std::bad_alloc.
  RCLRT_SETUP explicit LatestValue(std::size_t max_readers, const T& initial = T{})
      : max_readers_(checked(max_readers)),
        slots_(std::make_unique<Slot[]>(max_readers + 2)),
        seats_(std::make_unique<Seat[]>(max_readers)),
        current_(static_cast<std::uint32_t>(max_readers)) {  // every seat holds slot 0
    slots_[0].value = initial;
  }

  /// Takes a place for one more reading thread; it is free again when the Reader is destroyed.
  /// Throws std::length_error when all are in use. Thread-safe.
  RCLRT_SETUP Reader reader() {
    for (std::size_t i = 0; i < max_readers_; ++i) {
      // acquire: what the previous user of the seat left in `held`
      if (!seats_[i].occupied.exchange(true, std::memory_order_acquire)) {
        return Reader(this, &seats_[i]);
      }
    }
    throw std::length_error("LatestValue: all " + std::to_string(max_readers_) +
                            " readers are in use; construct it with a larger max_readers");
  }

  /// Publishes `value`. One thread at a time.
  void write(const T& value) noexcept RCLRT_NONBLOCKING {
    const std::uint32_t slot = free_slot();
    Atomics::writing(slots_[slot].value);
    slots_[slot].value = value;
    const std::uint32_t before = current_.exchange(slot << kSlotShift, std::memory_order_release);
    slots_[slot_of(before)].taken += before & kCountMask;
    newest_ = slot;
  }

 private:
  static constexpr unsigned kSlotShift = 16;
  static constexpr std::uint32_t kCountMask = 0xFFFF;

  struct alignas(kCacheLine) Slot {
    Atomics::template Atomic<std::uint32_t> released{0};  // wraps around, as `taken` does
    std::uint32_t taken = 0;                              // the writer's alone
    T value{};
  };
  struct alignas(kCacheLine) Seat {
    std::uint32_t held = 0;  // belongs to who set `occupied`
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

  /// Ends within max_readers + 2 steps, see the invariant.
  std::uint32_t free_slot() const noexcept RCLRT_NONBLOCKING {
    const auto slots = static_cast<std::uint32_t>(max_readers_ + 2);
    std::uint32_t slot = newest_;
    do {
      slot = slot + 1 == slots ? 0 : slot + 1;
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
