// SPDX-License-Identifier: Apache-2.0
// Durations as parameters: converted to the unit that is used without overflow.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <stdexcept>
#include <type_traits>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

namespace detail {

__extension__ using WideInteger = __int128;  // holds every product of a count and a ratio

}  // namespace detail

/// Converts a duration to `To`, which must count in std::int64_t. If the duration does not fit,
/// returns the longest or the shortest duration of `To`. If the unit of `To` is coarser, rounds to
/// the nearest value. NaN becomes 0.
template <typename To, typename Rep, typename Period>
constexpr To saturate_cast(std::chrono::duration<Rep, Period> from) noexcept RCLRT_NONBLOCKING {
  static_assert(std::is_same_v<typename To::rep, std::int64_t>);
  static_assert(std::is_arithmetic_v<Rep>, "a duration counts in integers or floating-point");
  using Ratio = std::ratio_divide<Period, typename To::period>;
  if constexpr (std::is_floating_point_v<Rep>) {
    const auto count = static_cast<long double>(from.count()) *
                       static_cast<long double>(Ratio::num) / static_cast<long double>(Ratio::den);
    constexpr auto kEnd = static_cast<long double>(std::uint64_t{1} << 63U);
    if (count >= kEnd) {
      return To::max();
    }
    if (count <= -kEnd) {
      return To::min();
    }
    if (count != count) {  // NOLINT(misc-redundant-expression): std::isnan is not constexpr
      return To::zero();
    }
    return To(static_cast<std::int64_t>(count < 0 ? count - 0.5L : count + 0.5L));
  } else {
    const detail::WideInteger product = detail::WideInteger{from.count()} * Ratio::num;
    const detail::WideInteger half = Ratio::den / 2;
    const detail::WideInteger count = (product < 0 ? product - half : product + half) / Ratio::den;
    if (count > std::numeric_limits<std::int64_t>::max()) {
      return To::max();
    }
    if (count < std::numeric_limits<std::int64_t>::min()) {
      return To::min();
    }
    return To(static_cast<std::int64_t>(count));
  }
}

/// A parameter or an option of type std::chrono::duration. It accepts every duration that `To`
/// accepts, and converts it by `saturate_cast`. (`std::chrono::nanoseconds` itself would convert
/// `hours::max()` to a negative number.) If `To` is nanoseconds, it also accepts floating-point
/// durations, such as seconds, and rounds them to the nearest nanosecond; NaN throws
/// std::invalid_argument.
template <typename To>
class Saturating : public To {
 public:
  /// Makes a duration of zero.
  constexpr Saturating() noexcept RCLRT_NONBLOCKING : To(To::zero()) {}

  // NOLINTBEGIN(google-explicit-constructor): they replace a std::chrono duration

  /// Converts a duration in whole units.
  template <typename Rep, typename Period>
    requires(!std::is_floating_point_v<Rep> &&
             std::ratio_divide<Period, typename To::period>::den == 1)
  constexpr Saturating(std::chrono::duration<Rep, Period> value) noexcept RCLRT_NONBLOCKING
      : To(saturate_cast<To>(value)) {}
  /// Converts a floating-point duration. Throws std::invalid_argument for NaN.
  template <typename Rep, typename Period>
    requires(std::is_floating_point_v<Rep> && std::is_same_v<typename To::period, std::nano>)
  RCLRT_SETUP constexpr Saturating(std::chrono::duration<Rep, Period> value)
      : To(saturate_cast<To>(value)) {
    if (value.count() != value.count()) {  // NOLINT(misc-redundant-expression): only NaN does
      throw std::invalid_argument("a duration is not a number (NaN): give a time");
    }
  }
  // NOLINTEND(google-explicit-constructor)
};

/// A duration as a parameter in nanoseconds.
using SaturatingNanoseconds = Saturating<std::chrono::nanoseconds>;
/// A duration as a parameter in microseconds.
using SaturatingMicroseconds = Saturating<std::chrono::microseconds>;
/// A duration as a parameter in milliseconds.
using SaturatingMilliseconds = Saturating<std::chrono::milliseconds>;

/// Returns `a` + `b`. If the sum overflows, returns the largest value for a positive `b` and the
/// smallest for a negative `b`.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept RCLRT_NONBLOCKING {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b > 0 ? std::numeric_limits<std::int64_t>::max()
                 : std::numeric_limits<std::int64_t>::min();
  }
  return sum;
}

}  // namespace rclrt::realtime
