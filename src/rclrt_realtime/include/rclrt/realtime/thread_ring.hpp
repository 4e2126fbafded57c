// SPDX-License-Identifier: Apache-2.0
// The ring between one thread and the drain thread of a Tracer or Logger, and its lifetime.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/realtime/byte_ring.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/tick_clock.hpp"

namespace rclrt::realtime::detail {

/// The lowest level at which records are recorded. The check is one relaxed load, because it orders
/// no other data: one record more or less at the moment of a change does not matter.
using Gate = std::atomic<std::uint8_t>;
inline constexpr std::uint8_t kGateClosed = 255;

/// Shared by a thread's handle and the drain thread; the one that lives longer frees it.
struct RCLRT_REALTIME_EXPORT ThreadRing {
  ThreadRing(std::string_view thread_name, std::size_t capacity, std::size_t max_record,
             std::shared_ptr<const Gate> ring_gate);

  ByteRing bytes;
  const std::string name;
  const std::shared_ptr<const Gate> gate;
  std::atomic<pid_t> tid;  // of the thread that records; relaxed: for display only

  /// true: the thread's handle is destroyed. Stored with release after the handle's last record,
  /// and loaded with acquire before the drain thread reads the ring for the last time.
  std::atomic<bool> ended{false};

  // Used only by the drain thread.
  std::uint32_t id = 0;
  bool last_pass = false;
  std::uint64_t dropped_told = 0;
};

/// Ends a handle's use of the ring. The drain thread then empties the ring once more and frees it.
struct EndOfRing {
  std::shared_ptr<ThreadRing> keep;
  void operator()(ThreadRing* ring) noexcept {
    ring->ended.store(true, std::memory_order_release);  // PAIRS WITH: ThreadRings::refresh()
    keep.reset();
  }
};
using OwnedRing = std::unique_ptr<ThreadRing, EndOfRing>;

/// The ring and the clock that a Tracer or Logger gives to a thread's handle.
struct AttachedRing {
  OwnedRing ring;
  TickClock clock;
};

/// Every ring of a Tracer or Logger.
class RCLRT_REALTIME_EXPORT ThreadRings {
 public:
  using List = std::vector<std::shared_ptr<ThreadRing>>;

  explicit ThreadRings(std::uint8_t gate) : gate_(std::make_shared<Gate>(gate)) {}

  Gate& gate() const noexcept RCLRT_NONBLOCKING { return *gate_; }

  /// Returns a new ring for the calling thread. Thread-safe.
  RCLRT_SETUP OwnedRing add(std::string_view name, std::uint32_t id, std::size_t capacity,
                            std::size_t max_record);

  /// Makes the records sent so far visible in every ring, and no later ones (drain thread).
  RCLRT_SETUP const List& refresh();

  /// Removes the rings that had ended before `refresh` and are thus empty now (drain thread).
  RCLRT_SETUP void remove_ended();

 private:
  const std::shared_ptr<Gate> gate_;
  std::mutex mutex_;  // guards rings_
  List rings_;
  List seen_;  // a copy used only by the drain thread
};

}  // namespace rclrt::realtime::detail
