// SPDX-License-Identifier: Apache-2.0
// The deadline by which EDF orders the instances of a callback.
#pragma once

#include <optional>

#include "rclrt/model/application.hpp"

namespace rclrt::model {

/// Returns the relative deadline by which EDF orders instances: `stated`, otherwise `period`.
/// Reason for the period: an instance is then due at the next release, so it ends before the
/// instance that follows it must start (the implicit deadlines of Liu and Layland, 1973). nullopt
/// if `stated` is nullopt and `period` is zero: such an instance runs behind all that have a
/// deadline. Only a stated deadline counts as missed.
constexpr std::optional<Nanoseconds> relative_deadline(std::optional<Nanoseconds> stated,
                                                       Nanoseconds period) noexcept {
  return !stated && period > Nanoseconds::zero() ? period : stated;
}

/// Returns relative_deadline() of the callback's own deadline and period (see period()). nullopt
/// for a subscription or sync that states no deadline.
inline std::optional<Nanoseconds> relative_deadline(const Callback& callback) {
  return relative_deadline(callback.deadline, period(callback));
}

}  // namespace rclrt::model
