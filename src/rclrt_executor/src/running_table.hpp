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

/// A thread writes a slot before user code and clears it afterwards; any thread reads them all.
/// Beyond kSlots at a time instances are not seen. Lock-free: a thread finds the slot that it had
/// last free, and its cache line in its cache, so the two cost some nanoseconds.
///
/// A slot belongs to the thread that has set `callback` from nullptr until it sets it back. `id`,
/// unique and not 0, is stored last and cleared first (release; PAIRS WITH: `running`, acquire), so
/// who reads the same id before and after the rest has read one instance.
class RunningTable {
 public:
  static constexpr std::size_t kSlots = 64;

  struct alignas(64) Slot {
    std::atomic<const Callback*> callback{nullptr};
    std::atomic<int> thread{0};
    std::atomic<std::uint64_t> id{0};
  };

  /// Returns the slot; nullptr: none is free. `leave` follows.
  Slot* enter(const Callback& callback, std::uint64_t id) noexcept RCLRT_NONBLOCKING;
  static void leave(Slot* slot) noexcept RCLRT_NONBLOCKING {
    if (slot != nullptr) {
      slot->id.store(0, std::memory_order_release);
      slot->callback.store(nullptr, std::memory_order_release);
    }
  }

  /// One that ran when it was read. The callback may have gone since: compare its address only.
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
