// SPDX-License-Identifier: Apache-2.0
// Which instances run now, and on which threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

class Callback;

/// The table of instances that are running now. A thread writes a slot before it calls user code,
/// and clears the slot afterwards; any thread may read all slots. If more than kSlots instances run
/// at the same time, the others are not visible. Lock-free. A thread usually finds its last slot
/// free and in its cache, so writing and clearing take some nanoseconds.
///
/// A slot belongs to the thread that has changed `callback` from nullptr, until that thread stores
/// nullptr again. `id` is unique and not 0; it is stored last and cleared first. All fields are
/// stored with release and loaded with acquire. So a reader that loads a field of a later instance
/// also loads the cleared id or a later one. If a reader finds the same id before and after the
/// other fields, all fields belong to one instance.
class RunningTable {
 public:
  static constexpr std::size_t kSlots = 64;

  struct alignas(64) Slot {
    std::atomic<const Callback*> callback{nullptr};
    std::atomic<int> thread{0};
    std::atomic<std::uint64_t> id{0};
  };

  /// Takes a slot and returns it; nullptr: none is free. `leave` follows.
  Slot* enter(const Callback& callback, std::uint64_t id) noexcept RCLRT_NONBLOCKING;
  static void leave(Slot* slot) noexcept RCLRT_NONBLOCKING {
    if (slot != nullptr) {
      slot->id.store(0, std::memory_order_release);              // PAIRS WITH: running()
      slot->callback.store(nullptr, std::memory_order_release);  // PAIRS WITH: enter(), running()
    }
  }

  /// An instance that was running when the table was read. The callback may have been destroyed
  /// since then: compare its address, but do not access it.
  struct Running {
    const Callback* callback;
    int thread;
    std::uint64_t id;
  };
  RCLRT_SETUP std::vector<Running> running() const;

 private:
  std::array<Slot, kSlots> slots_;
};

}  // namespace rclrt::executor
