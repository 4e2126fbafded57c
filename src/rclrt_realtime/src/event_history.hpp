// SPDX-License-Identifier: Apache-2.0
// The last events of a trace in memory of a fixed size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rclrt/realtime/trace_event.hpp"
#include "trace_order.hpp"

namespace rclrt::realtime {

/// The latest trace events, in a ring. When the ring is full, the oldest event is discarded. A
/// discarded event is kept elsewhere if it is the begin of a span that is still open. Not
/// thread-safe.
class EventHistory {
 public:
  /// Allocates and touches all memory.
  explicit EventHistory(std::size_t capacity);

  void add(const TraceEvent& event);

  /// Discards the events that ended before `time_ns`, as far as they are the oldest added.
  void forget_before(std::int64_t time_ns);

  /// Calls `visit` with each event, in the order of trace_order.hpp. The call allocates 4 bytes for
  /// each event and frees them at its end.
  template <typename Visit>
  void visit_in_order(Visit&& visit) const {
    const auto event_at = [this](std::size_t age) -> const TraceEvent& { return event(age); };
    std::vector<std::uint32_t> order;
    order_by_begin(size_, event_at, order);
    for (const std::uint32_t age : order) {
      visit(event(age));
    }
  }

  /// Returns the discarded begins of spans of which no end was discarded, the oldest first. At most
  /// kMaxOpen begins are kept, the oldest ones.
  std::span<const TraceEvent> open() const { return open_; }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return events_.size(); }

 private:
  static constexpr std::size_t kMaxOpen = 1024;

  const TraceEvent& event(std::size_t age) const {
    const std::size_t at = oldest_ + age;
    return events_[at < events_.size() ? at : at - events_.size()];
  }
  void forget_oldest();

  std::vector<TraceEvent> events_;  // the oldest is at oldest_; size_ of them, wrapping around
  std::size_t oldest_ = 0;
  std::size_t size_ = 0;
  std::vector<TraceEvent> open_;
};

}  // namespace rclrt::realtime
