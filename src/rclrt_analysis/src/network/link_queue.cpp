// SPDX-License-Identifier: Apache-2.0
#include "network/link_queue.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr std::int64_t kBitsPerMillisecond = 8'000'000;  // of a byte per ns, in kbit/s
constexpr int kMostArrivals = 300'000;                   // that a search looks at

/// A lambda expression, because the type of a pointer to a function would be an exported symbol.
constexpr auto kAll = [](int /*priority*/) { return true; };

/// Returns the bytes that a rate brings within a time, rounded down.
std::int64_t bytes_within(Ticks time, std::uint64_t rate_kbit) {
  return static_cast<std::int64_t>(
      std::floor(static_cast<long double>(time) * static_cast<long double>(rate_kbit) /
                 static_cast<long double>(kBitsPerMillisecond)));
}

}  // namespace

Ticks time_on_line(std::size_t bytes, std::uint64_t rate_kbit) {
  return ceil_div(product(static_cast<Ticks>(bytes), kBitsPerMillisecond),
                  static_cast<Ticks>(std::max<std::uint64_t>(rate_kbit, 1)));
}

LinkQueue::LinkQueue(const model::NetworkLink& link, std::size_t from,
                     std::vector<LinkStream> streams)
    : link_(link),
      limit_kbit_(link.shaper ? link.shaper->rate_kbit : link.rate_kbit),
      streams_(std::move(streams)) {
  std::ranges::copy_if(link.cross_traffic, std::back_inserter(cross_),
                       [&](const auto& each) { return each.from == from; });
  for (const LinkStream& stream : streams_) {
    Work& work = work_.emplace_back();
    for (const std::size_t packet : stream.packets) {
      work.last = time_on_line(packet, limit_kbit_);
      work.limited = sum(work.limited, work.last);
      work.line = sum(work.line, time_on_line(packet, link.rate_kbit));
      work.bytes += static_cast<std::int64_t>(packet);
      ++work.packets;
    }
  }
}

bool LinkQueue::is_known() const { return knows(kAll); }

bool LinkQueue::knows(const Chosen& chosen) const {
  return std::ranges::all_of(
      streams_, [&](const LinkStream& each) { return each.period > 0 || !chosen(each.priority); });
}

/// Returns the most messages of a stream within a closed interval.
Ticks LinkQueue::count(std::size_t stream, Ticks within) const {
  const LinkStream& own = streams_[stream];
  return floor_div(sum(within, own.jitter), own.period) + 1;
}

LinkQueue::Arrived LinkQueue::arrived(Ticks within, const Chosen& chosen) const {
  Arrived result;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!chosen(streams_[i].priority)) {
      continue;
    }
    const Ticks messages = count(i, within);
    result.limited = sum(result.limited, product(messages, work_[i].limited));
    result.line = sum(result.line, product(messages, work_[i].line));
    result.bytes += product(messages, work_[i].bytes);
    result.packets += product(messages, work_[i].packets);
  }
  for (const model::CrossTraffic& each : cross_) {
    if (!chosen(each.priority)) {
      continue;
    }
    // Rounded up: between two arrivals of messages, no moment needs more than this.
    const std::int64_t bytes =
        static_cast<std::int64_t>(each.burst_bytes) + bytes_within(within, each.rate_kbit) + 1;
    result.limited =
        sum(result.limited, time_on_line(static_cast<std::size_t>(bytes), limit_kbit_));
    result.line = sum(result.line, time_on_line(static_cast<std::size_t>(bytes), link_.rate_kbit));
    result.bytes += bytes;
  }
  return result;
}

/// Returns a line that Arrived::limited never exceeds.
LinkQueue::Line LinkQueue::line_above(const Chosen& chosen) const {
  Line result;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!chosen(streams_[i].priority) || streams_[i].period == 0) {
      continue;
    }
    const auto period = static_cast<double>(streams_[i].period);
    const auto work = static_cast<double>(work_[i].limited);
    result.slope += work / period;
    result.offset += work * (static_cast<double>(streams_[i].jitter) / period + 1);
  }
  for (const model::CrossTraffic& each : cross_) {
    if (chosen(each.priority)) {
      result.slope += static_cast<double>(each.rate_kbit) / static_cast<double>(limit_kbit_);
      result.offset += static_cast<double>(time_on_line(each.burst_bytes, limit_kbit_)) + 1;
    }
  }
  return result;
}

/// Returns the next time after `after` at which another message may arrive; kHorizon: never.
Ticks LinkQueue::next_arrival(Ticks after, const Chosen& chosen) const {
  Ticks next = kHorizon;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (chosen(streams_[i].priority)) {
      next = std::min(next, product(count(i, after), streams_[i].period) - streams_[i].jitter);
    }
  }
  return next;
}

/// Returns the size of the largest packet; 0 if there is none.
std::size_t LinkQueue::largest_bytes(const Chosen& chosen) const {
  std::size_t largest = 0;
  for (const LinkStream& stream : streams_) {
    if (chosen(stream.priority)) {
      for (const std::size_t packet : stream.packets) {
        largest = std::max(largest, packet);
      }
    }
  }
  for (const model::CrossTraffic& each : cross_) {
    if (chosen(each.priority)) {
      largest = std::max(largest, std::min(each.burst_bytes, link_.largest_packet()));
    }
  }
  return largest;
}

std::optional<Ticks> LinkQueue::delay(std::size_t stream) const {
  steps_ = 2 * kMostArrivals;
  return link_.order == model::LinkOrder::kFifo ? fifo_delay() : priority_delay(stream);
}

/// The same for all streams: with a(t) for the work that arrives within a closed interval of length
/// t, the horizontal deviation of a(t) and the service. On the line alone, the largest a(t) - t;
/// with a shaper of burst b, the largest of this and of a(t) - b - t, at the shaper's rate, plus
/// the largest packet on the line.
std::optional<Ticks> LinkQueue::fifo_delay() const {
  const Line above = line_above(kAll);
  if (!is_known() || above.slope >= 1) {
    return std::nullopt;
  }
  const Ticks packet = link_.shaper ? largest_packet(kAll, link_.rate_kbit) : 0;
  const Ticks burst =
      link_.shaper ? product(static_cast<Ticks>(link_.shaper->burst_bytes), kBitsPerMillisecond) /
                         static_cast<Ticks>(limit_kbit_)
                   : 0;
  Ticks longest = 0;
  Ticks time = 0;
  for (int steps = 0; steps < kMostArrivals; ++steps) {
    const Arrived work = arrived(time, kAll);
    longest = std::max(longest, work.line - time);
    if (link_.shaper) {
      longest = std::max(longest, sum(work.limited, packet) - burst - time);
    }
    const Ticks next = next_arrival(time, kAll);
    const double most =
        above.offset + static_cast<double>(packet) + (above.slope - 1) * static_cast<double>(next);
    if (next >= kMaxTicks || most * (1 + 1e-9) + 1 < static_cast<double>(longest)) {
      return sum(longest, link_.access.count());
    }
    time = next;
  }
  return std::nullopt;
}

/// Returns the latest start of a packet, from the start of a period in which packets of this or a
/// higher priority wait: after `before`, and after what arrives until then above the priority.
std::optional<Ticks> LinkQueue::start_of_last(Ticks before, int above) const {
  const Chosen chosen = [above](int priority) { return priority > above; };
  Ticks start = before;
  for (; steps_ > 0 && start < kMaxTicks; --steps_) {
    const Ticks next = sum(before, arrived(start, chosen).limited);
    if (next == start) {
      return start;
    }
    start = next;
  }
  return std::nullopt;
}

/// Non-preemptive static priorities, packet by packet: Davis, Burns, Bril and Lukkien, "Controller
/// Area Network (CAN) schedulability analysis: refuted, revisited and revised", Real-Time Systems
/// 35, 2007, with streams of one priority in order of arrival.
std::optional<Ticks> LinkQueue::priority_delay(std::size_t stream) const {
  const int own = streams_[stream].priority;
  const Chosen from_own = [own](int priority) { return priority >= own; };
  const Chosen equal = [own](int priority) { return priority == own; };
  const Chosen below = [own](int priority) { return priority < own; };
  const Line above = line_above(from_own);
  const Line higher = line_above([own](int priority) { return priority > own; });
  if (!knows(from_own) || above.slope >= 1) {
    return std::nullopt;
  }
  Ticks first = sum(link_.access.count(), largest_packet(below, limit_kbit_));
  if (link_.shaper) {
    first = sum(first, largest_packet(kAll, link_.rate_kbit));
  }
  const bool has_equal_traffic =
      std::ranges::any_of(cross_, [own](const auto& each) { return each.priority == own; });
  const Ticks step = streams_[stream].period / 64 + 1;
  Ticks longest = 0;
  Ticks time = 0;
  for (int steps = 0; steps < kMostArrivals; ++steps) {
    Ticks next = next_arrival(time, equal);
    Ticks until = time;
    if (has_equal_traffic) {
      // Its bytes come at any time: until the next moment that is looked at, all of them count.
      next = std::min(next, time + step);
      until = next - 1;
    }
    const Ticks before = sum(first, arrived(until, equal).limited) - work_[stream].last;
    const auto start = start_of_last(before, own);
    if (!start) {
      return std::nullopt;
    }
    longest = std::max(longest, sum(*start, work_[stream].last) - time);
    const double left = 1 - higher.slope;
    const auto more = static_cast<double>(has_equal_traffic ? step : 0);
    const double most = (above.offset + static_cast<double>(first) + more) / left + 2 +
                        static_cast<double>(next) * ((above.slope - higher.slope) / left - 1);
    if (next >= kMaxTicks || most * (1 + 1e-9) + 1 < static_cast<double>(longest)) {
      return longest;
    }
    time = next;
  }
  return std::nullopt;
}

/// Returns the least bytes of packets that have left within a time since packets began to wait, of
/// `packets` that have arrived. A packet counts as a whole when its last bit has left. One
/// nanosecond for each packet is the rounding of its time.
std::int64_t LinkQueue::served(Ticks time, std::int64_t packets) const {
  const Ticks busy = time - link_.access.count() - packets;
  if (busy <= 0) {
    return 0;
  }
  std::int64_t bytes = bytes_within(busy, link_.rate_kbit);
  if (link_.shaper) {
    const Ticks packet = largest_packet(kAll, link_.rate_kbit);
    const std::int64_t shaped = busy > packet ? bytes_within(busy - packet, limit_kbit_)
                                              : -bytes_within(packet - busy, limit_kbit_) - 1;
    bytes = std::min(bytes, static_cast<std::int64_t>(link_.shaper->burst_bytes) + shaped);
  }
  return std::max<std::int64_t>(0, bytes - static_cast<std::int64_t>(largest_bytes(kAll)));
}

/// The vertical deviation of the bytes that arrive and those that leave.
std::optional<std::int64_t> LinkQueue::backlog() const {
  const Line above = line_above(kAll);
  if (!is_known() || above.slope >= 1) {
    return std::nullopt;
  }
  const Ticks packet = largest_packet(kAll, link_.rate_kbit);
  double packets_per_ns = 0;  // each takes up to a nanosecond more than its bytes
  double first_packets = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto period = static_cast<double>(streams_[i].period);
    const auto packets = static_cast<double>(work_[i].packets);
    packets_per_ns += packets / period;
    first_packets += packets * (static_cast<double>(streams_[i].jitter) / period + 1);
  }
  const double shrinks = 1 - above.slope - packets_per_ns;  // of the backlog, in each ns
  std::int64_t most_bytes = 0;
  Ticks time = 0;
  for (int steps = 0; steps < kMostArrivals; ++steps) {
    const Arrived work = arrived(time, kAll);
    most_bytes = std::max(most_bytes, work.bytes - served(time, work.packets));
    Ticks next = next_arrival(time, kAll);
    const Ticks first_left = link_.access.count() + work.packets + packet + 1;
    if (time < first_left) {
      next = std::min(next, first_left);  // cross traffic grows until packets have left
    }
    const double per_ns = static_cast<double>(limit_kbit_) / kBitsPerMillisecond;
    const double limit = static_cast<double>(largest_bytes(kAll)) + 2 +
                         per_ns * (above.offset + first_packets +
                                   static_cast<double>(link_.access.count() + packet) -
                                   shrinks * static_cast<double>(next));
    if (next >= kMaxTicks || (shrinks > 0 && next > first_left &&
                              limit * (1 + 1e-6) + 1 < static_cast<double>(most_bytes))) {
      return most_bytes;
    }
    time = next;
  }
  return std::nullopt;
}

}  // namespace rclrt::analysis::detail
