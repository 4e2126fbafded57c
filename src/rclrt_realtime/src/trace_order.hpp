// SPDX-License-Identifier: Apache-2.0
// The order in which events of one time are written, so that spans nest as they ran.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "rclrt/realtime/trace_event.hpp"

namespace rclrt::realtime {

/// By begin; of those that begin together, enclosing spans first.
inline bool comes_before(const TraceEvent& a, const TraceEvent& b) {
  // What has no end of its own keeps the order in which it was recorded.
  const auto end_of = [](const TraceEvent& event) {
    return event.kind == TraceKind::kSpan ? event.end_ns : std::numeric_limits<std::int64_t>::max();
  };
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : end_of(a) > end_of(b);
}

/// Makes `order` the numbers 0 to count - 1 of the events `event_at(number)` in that order, those
/// that compare equal by number.
template <typename EventAt>
void order_by_begin(std::size_t count, EventAt&& event_at, std::vector<std::uint32_t>& order) {
  order.resize(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const TraceEvent& first = event_at(a);
    const TraceEvent& second = event_at(b);
    return comes_before(first, second) || (a < b && !comes_before(second, first));
  });
}

}  // namespace rclrt::realtime
