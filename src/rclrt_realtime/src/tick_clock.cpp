// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/tick_clock.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace rclrt::realtime {

namespace {

#if defined(__x86_64__)
constexpr const char* kCounterName = "tsc";
#elif defined(__aarch64__)
constexpr const char* kCounterName = "arch_sys_counter";
#else
constexpr const char* kCounterName = nullptr;
#endif

// GCC and clang have it on every platform with 64-bit pointers.
__extension__ using Wide = __int128;

/// Returns the point at `ticks` on the line through `a` and `b`, rounded down: monotone in `ticks`.
std::int64_t on_line(const TickSample& a, const TickSample& b, std::uint64_t ticks) noexcept {
  const auto since_a = static_cast<std::int64_t>(ticks - a.ticks);
  const auto run = static_cast<std::int64_t>(b.ticks - a.ticks);
  const Wide scaled = Wide{since_a} * (b.monotonic_ns - a.monotonic_ns);
  const Wide whole = scaled / run - (scaled % run < 0 ? 1 : 0);
  return a.monotonic_ns + static_cast<std::int64_t>(whole);
}

}  // namespace

TickClock TickClock::best() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  const bool counter = kCounterName != nullptr && (file >> name) && name == kCounterName;
  return TickClock(counter ? Source::kCounter : Source::kMonotonic);
}

TickSample sample_ticks(TickClock clock) noexcept RCLRT_NONBLOCKING {
  constexpr int kBrackets = 16;
  std::uint64_t tightest = std::numeric_limits<std::uint64_t>::max();
  std::int64_t first_ns = 0;
  TickSample sample;
  const std::uint64_t first = clock.now();
  std::uint64_t before = first;
  for (int i = 0; i < kBrackets; ++i) {
    const std::int64_t now_ns = monotonic_now_ns();
    const std::uint64_t after = clock.now();
    first_ns = i == 0 ? now_ns : first_ns;
    if (after - before < tightest) {
      tightest = after - before;
      sample = {.ticks = before + tightest / 2, .monotonic_ns = now_ns};
    }
    before = after;
  }
  // The error is half the time between the two reads of the ticks, plus 1 ns for the resolution of
  // the clocks. Ticks are converted to nanoseconds by the ratio over all attempts.
  const auto elapsed_ns = static_cast<std::uint64_t>(monotonic_now_ns() - first_ns) + 1;
  const std::uint64_t elapsed = std::max<std::uint64_t>(before - first, 1);
  sample.error_ns = static_cast<std::int64_t>(tightest / 2 * elapsed_ns / elapsed) + 1;
  return sample;
}

TickConverter::TickConverter(TickClock clock)
    : clock_(clock), first_(sample_ticks(clock)), recent_(kRecent), error_ns_(first_.error_ns) {}

void TickConverter::add(const TickSample& sample) noexcept RCLRT_NONBLOCKING {
  const TickSample& last = count_ == 0 ? first_ : recent(0);
  if (sample.monotonic_ns <= last.monotonic_ns) {
    return;
  }
  if (sample.ticks <= last.ticks) {
    first_ = sample;
    count_ = 0;
    error_ns_ = sample.error_ns;
    return;
  }
  newest_ = (newest_ + 1) % kRecent;
  recent_[newest_] = sample;
  count_ = std::min(count_ + 1, kRecent);
  error_ns_ = std::max(error_ns_, sample.error_ns);
}

std::int64_t TickConverter::to_monotonic_ns(std::uint64_t ticks) const noexcept RCLRT_NONBLOCKING {
  if (count_ == 0) {
    return first_.monotonic_ns;
  }
  // Searches from the newest sample, because records are drained soon after they were made.
  std::size_t age = 0;
  while (age + 1 < count_ && recent(age + 1).ticks > ticks) {
    ++age;
  }
  const bool oldest = age + 1 == count_;
  return on_line(oldest ? first_ : recent(age + 1), recent(age), ticks);
}

}  // namespace rclrt::realtime
