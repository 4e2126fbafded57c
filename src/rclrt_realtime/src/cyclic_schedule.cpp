// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/cyclic_schedule.hpp"

#include <stdexcept>
#include <string>

namespace rclrt::realtime {

namespace {

/// Returns a + n × step, or the end of the clock. All arguments are positive.
std::int64_t later(std::int64_t a, std::int64_t n, std::int64_t step) noexcept RCLRT_NONBLOCKING {
  std::int64_t distance = 0;
  std::int64_t sum = 0;
  const bool overflow =
      __builtin_mul_overflow(n, step, &distance) || __builtin_add_overflow(a, distance, &sum);
  return overflow ? INT64_MAX : sum;
}

}  // namespace

CyclicSchedule::CyclicSchedule(std::int64_t period_ns, OverrunPolicy policy)
    : period_ns_(period_ns), policy_(policy) {
  if (period_ns <= 0) {
    throw std::invalid_argument("a period must be positive, not " + std::to_string(period_ns) +
                                " ns");
  }
}

void CyclicSchedule::start(std::int64_t now_ns,
                           std::optional<std::int64_t> first_ns) noexcept RCLRT_NONBLOCKING {
  index_ = 0;
  nominal_ns_ = first_ns.value_or(now_ns);
  if (nominal_ns_ < now_ns) {
    nominal_ns_ = later(nominal_ns_, (now_ns - nominal_ns_ - 1) / period_ns_ + 1, period_ns_);
  }
}

CyclicSchedule::Outcome CyclicSchedule::finish(std::int64_t finish_ns) noexcept RCLRT_NONBLOCKING {
  ++index_;
  nominal_ns_ = later(nominal_ns_, 1, period_ns_);
  if (nominal_ns_ >= finish_ns) {
    return {false, 0};
  }
  if (policy_ == OverrunPolicy::kCatchUp) {
    return {true, 0};
  }
  const std::int64_t missed = (finish_ns - nominal_ns_ - 1) / period_ns_ + 1;
  if (policy_ == OverrunPolicy::kSkip) {
    index_ += static_cast<std::uint64_t>(missed);
    nominal_ns_ = later(nominal_ns_, missed, period_ns_);
  } else {
    nominal_ns_ = later(finish_ns, 1, period_ns_);
  }
  return {true, static_cast<std::uint64_t>(missed)};
}

}  // namespace rclrt::realtime
