// SPDX-License-Identifier: Apache-2.0
// The order of events with the same time, so that spans nest as they ran.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "rclrt/realtime/trace_event.hpp"

namespace rclrt::realtime {

/// Sorts events by their begin. `event_at(number)` returns an event; the events are numbered from 0
/// to count - 1 in the order in which they were recorded. `order` gets the sorted numbers. Clocks
/// have steps, so several events may begin at the same time. Among those, the begins and ends of
/// spans (TraceKind::kBegin and kEnd) keep their recorded order. Between two of them come first the
/// complete spans, enclosing ones first, and then the events without duration, so that these lie
/// inside the spans.
template <typename EventAt>
void order_by_begin(std::size_t count, EventAt&& event_at, std::vector<std::uint32_t>& order) {
  order.resize(count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t first_ns = event_at(a).begin_ns;
    const std::int64_t second_ns = event_at(b).begin_ns;
    return first_ns != second_ns ? first_ns < second_ns : a < b;
  });
  const auto opens_or_closes = [&](std::uint32_t number) {
    const TraceKind kind = event_at(number).kind;
    return kind == TraceKind::kBegin || kind == TraceKind::kEnd;
  };
  const auto encloses = [&](std::uint32_t a, std::uint32_t b) {
    const TraceEvent& first = event_at(a);
    const TraceEvent& second = event_at(b);
    const bool first_is_span = first.kind == TraceKind::kSpan;
    if (first_is_span != (second.kind == TraceKind::kSpan)) {
      return first_is_span;
    }
    return first_is_span && first.end_ns != second.end_ns ? first.end_ns > second.end_ns : a < b;
  };
  for (auto begin = order.begin(); begin != order.end();) {
    const std::int64_t begin_ns = event_at(*begin).begin_ns;
    const auto end = std::find_if(begin + 1, order.end(), [&](std::uint32_t number) {
      return event_at(number).begin_ns != begin_ns || opens_or_closes(number);
    });
    std::sort(opens_or_closes(*begin) ? begin + 1 : begin, end, encloses);
    begin = end;
  }
}

}  // namespace rclrt::realtime
