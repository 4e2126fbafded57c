// SPDX-License-Identifier: Apache-2.0
// A sum of C / T that can be compared with 1 without rounding.
#pragma once

#include <cmath>
#include <compare>
#include <numeric>
#include <optional>

#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis::detail {

class Load {
 public:
  void add(Ticks wcet, Ticks period) {
    rounded_ += static_cast<double>(wcet) / static_cast<double>(period);
    if (!exact_) {
      return;
    }
    Ticks hyperperiod = 0;
    Ticks before = 0;
    Ticks share = 0;
    const Ticks factor = period / std::gcd(hyperperiod_, period);
    exact_ = !__builtin_mul_overflow(hyperperiod_, factor, &hyperperiod) &&
             !__builtin_mul_overflow(work_, factor, &before) &&
             !__builtin_mul_overflow(hyperperiod / period, wcet, &share) &&
             !__builtin_add_overflow(before, share, &work_);
    hyperperiod_ = hyperperiod;
  }

  double rounded() const { return rounded_; }

  /// Compares the sum with 1, exactly if the numbers fit 63 bits. Otherwise returns `unordered` if
  /// the sum is within 1e-9 of 1.
  std::partial_ordering compare_with_one() const {
    if (std::abs(rounded_ - 1) > 1e-9) {
      return rounded_ <=> 1.0;
    }
    if (!exact_) {
      return std::partial_ordering::unordered;
    }
    return work_ <=> hyperperiod_;
  }

  /// Returns the least common multiple of the periods, if all sums fit.
  std::optional<Ticks> hyperperiod() const {
    return exact_ ? std::optional(hyperperiod_) : std::nullopt;
  }

 private:
  double rounded_ = 0;
  bool exact_ = true;  // the two values below are exact
  Ticks hyperperiod_ = 1;
  Ticks work_ = 0;  // of one hyperperiod
};

}  // namespace rclrt::analysis::detail
