// SPDX-License-Identifier: Apache-2.0
// The work of released jobs, as a function of time that only moves forward.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "load.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis::detail {

/// Times beyond this limit are not followed. Sums of two such times still fit.
inline constexpr Ticks kHorizon = Ticks{1} << 61;

/// Returns a + b, or a * b, for values from 0 to kHorizon; at most kHorizon.
inline Ticks sum(Ticks a, Ticks b) { return a + b < kHorizon ? a + b : kHorizon; }
inline Ticks product(Ticks a, Ticks b) {
  Ticks result = 0;
  return __builtin_mul_overflow(a, b, &result) || result > kHorizon ? kHorizon : result;
}
inline Ticks ceil_div(Ticks a, Ticks b) { return a / b + (a % b > 0 ? 1 : 0); }
/// Returns a / b rounded down, also below zero.
inline Ticks floor_div(Ticks a, Ticks b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The releases that count at a time t. kBefore: those in [0, t), as preemptive analysis needs.
/// kUntil: those in [0, t], as the start of a non-preemptive job needs.
enum class Count { kBefore, kUntil };

/// The releases of a timer or event from the start of a busy period on, if they come as early as
/// they may. Two limits hold; the lower one counts. They are equal for a timer, and for an event of
/// which only the shortest interval is known.
struct Releases {
  Ticks period{};
  Ticks jitter{};    ///< release n is no earlier than n periods less this
  Ticks distance{};  ///< the shortest time between two
  Ticks within{};    ///< release n is no earlier than n distances less this

  /// Returns the most releases in [0, t).
  Ticks before(Ticks t) const {
    const Ticks by_period = ceil_div(t + jitter, period);
    return std::max<Ticks>(
        0, has_one_limit() ? by_period : std::min(by_period, ceil_div(t + within, distance)));
  }

  /// Returns the most releases in [0, t].
  Ticks until(Ticks t) const {
    return std::max<Ticks>(
        0, std::min(floor_div(t + jitter, period), floor_div(t + within, distance)) + 1);
  }

  /// Returns the next time after `t` at which until() is greater.
  Ticks next(Ticks t) const {
    const Ticks more = until(t);
    return std::max(product(more, period) - jitter, product(more, distance) - within);
  }

  bool has_one_limit() const { return period == distance && jitter == within; }
};

/// Jobs with two upper limits on their number in any time. Each limit is a sum of releases of
/// several tasks; the lower limit is used.
struct LimitedJobs {
  struct Release {
    Ticks period{};
    Ticks jitter{};
    Ticks count{1};  ///< jobs for each

    Ticks before(Ticks t) const {
      return t + jitter > 0 ? product(ceil_div(t + jitter, period), count) : 0;
    }
  };

  Ticks wcet{};
  std::vector<Release> releases;
  std::vector<Release> also;  ///< empty: no second limit

  /// Returns the most jobs released in [0, t).
  Ticks before(Ticks t) const {
    const Ticks jobs = total(releases, t);
    return also.empty() ? jobs : std::min(jobs, total(also, t));
  }

  static Ticks total(const std::vector<Release>& all, Ticks t) {
    Ticks jobs = 0;
    for (const Release& release : all) {
      jobs = sum(jobs, release.before(t));
    }
    return jobs;
  }
};

/// The work that several tasks release from time 0 on, as early as they can: with jitter J and
/// period T, jobs are released at 0, T - J, 2 T - J, ...
class Demand {
 public:
  explicit Demand(Count count) : until_(count == Count::kUntil ? 1 : 0) {}

  void add(Ticks wcet, Ticks period, Ticks jitter) {
    wcet_.push_back(wcet);
    period_.push_back(period);
    next_.push_back(-jitter - until_);
    jitter_.push_back(jitter);
  }

  void add(LimitedJobs jobs) {
    releases_ += jobs.releases.size() + jobs.also.size();
    limited_.push_back(std::move(jobs));
  }

  std::size_t size() const { return wcet_.size() + releases_; }

  /// Returns the work released by time t. Between two calls of rewind(), t must not decrease.
  Ticks at(Ticks t) {
    const std::size_t n = wcet_.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (t > next_[k]) [[unlikely]] {
        const Ticks jobs = ceil_div(t - next_[k], period_[k]);
        work_ = sum(work_, product(jobs, wcet_[k]));
        // At most t + period: both are below kHorizon.
        next_[k] += jobs * period_[k];
      }
    }
    if (limited_.empty()) {
      return work_;
    }
    Ticks total = work_;
    for (const LimitedJobs& each : limited_) {
      total = sum(total, product(each.before(t + until_), each.wcet));
    }
    return total;
  }

  /// Returns whether the work released by any time t is at least t, because the load is 1 or more:
  /// then no t is `constant` plus that work, if `constant` is positive. Counts only jobs with one
  /// limit, and no jobs that begin later than at time 0.
  bool fills_all_time() const {
    Load load;
    for (std::size_t k = 0; k < wcet_.size(); ++k) {
      if (jitter_[k] >= 0) {
        load.add(wcet_[k], period_[k]);
      }
    }
    for (const LimitedJobs& each : limited_) {
      for (const LimitedJobs::Release& release : each.releases) {
        if (each.also.empty() && release.jitter >= 0) {
          load.add(product(release.count, each.wcet), release.period);
        }
      }
    }
    return load.compare_with_one() >= 0;
  }

  void rewind() {
    work_ = 0;
    for (std::size_t k = 0; k < wcet_.size(); ++k) {
      next_[k] = -jitter_[k] - until_;
    }
  }

 private:
  Ticks until_;
  Ticks work_ = 0;  // of all jobs of add() with a release that counts, up to the last t
  std::vector<Ticks> wcet_;
  std::vector<Ticks> period_;
  std::vector<Ticks> jitter_;
  std::vector<Ticks> next_;  // t must be greater for the next job to count
  std::vector<LimitedJobs> limited_;
  std::size_t releases_ = 0;  // of all of `limited_`
};

/// The number of steps that one call may still take, shared by all of its computations. `take` lets
/// exceptions of Effort::check_interrupt pass.
class Budget {
 public:
  explicit Budget(Effort effort)
      : given_(effort.steps), left_(effort.steps), check_interrupt_(effort.check_interrupt) {
    if (check_interrupt_ != nullptr) {
      next_ = left_;
    }
  }
  /// Returns a budget for a part of the work; subtract the used part from this budget afterwards.
  Budget part(std::int64_t steps) const { return Budget({steps, check_interrupt_}); }
  /// Uses up steps. Returns false when none remain.
  bool take(std::size_t steps) {
    left_ -= static_cast<std::int64_t>(steps) + 8;  // 8 for the code around the loop
    if (left_ < next_) [[unlikely]] {
      next_ = left_ - kStepsBetween;
      check_interrupt_();
    }
    return left_ > 0;
  }
  /// Uses up as many steps as earlier calls of take() have used, if that leaves some. Returns
  /// whether it does.
  bool take_again(std::int64_t used) {
    const bool has_more = used < left_;
    left_ -= has_more ? used : 0;
    return has_more;
  }
  bool empty() const { return left_ <= 0; }
  std::int64_t left() const { return left_; }
  std::int64_t used() const { return given_ - left_; }

 private:
  static constexpr std::int64_t kStepsBetween = 100'000;

  std::int64_t given_;
  std::int64_t left_;
  InterruptCheck check_interrupt_;
  /// `check_interrupt_` is due when `left_` falls below this; never if there is none.
  std::int64_t next_ = std::numeric_limits<std::int64_t>::min();
};

/// Returns the least fixed point of w = work(w). Searches upwards from `start`, which must not be
/// above the result. `steps` is the cost of one call of `work` in the unit of Budget. nullopt if
/// the fixed point is beyond kHorizon or the budget ends first.
template <typename Work>
std::optional<Ticks> fixed_point(Ticks start, std::size_t steps, Budget& budget, Work work) {
  Ticks w = start;
  while (true) {
    if (!budget.take(steps)) {
      return std::nullopt;
    }
    const Ticks next = work(w);
    if (next >= kHorizon) {
      return std::nullopt;
    }
    if (next <= w) {
      return next;
    }
    w = next;
  }
}

/// Returns the least fixed point of w = constant + demand(w). If many steps have found none, a load
/// of 1 may be the reason: the steps would go on until the budget ends.
inline std::optional<Ticks> fixed_point(Ticks constant, Ticks start, Demand& demand,
                                        Budget& budget) {
  constexpr std::uint32_t kManySteps = 10'000;
  std::uint32_t steps = 0;
  return fixed_point(start, demand.size(), budget, [&](Ticks w) {
    const bool never_ends = ++steps == kManySteps && constant > 0 && demand.fills_all_time();
    return never_ends ? kHorizon : sum(constant, demand.at(w));
  });
}

}  // namespace rclrt::analysis::detail
