// SPDX-License-Identifier: Apache-2.0
#include "tasks/preemptive_level.hpp"

#include <algorithm>
#include <cmath>

namespace rclrt::analysis::detail {
namespace {

double load_of(const Job& task) {
  return static_cast<double>(task.wcet) / static_cast<double>(task.period);
}

/// Returns a lower limit on every fixed point of w = constant + sum of ceil((w + J) / T) C. `load`
/// is the sum of C / T, `late_work` the sum of J C / T. The limit holds because a ceiling is at
/// least its argument (Sjödin and Hansson, "Improved response-time analysis calculations", RTSS
/// 1998). It is rounded down by more than the error of the sums.
Ticks least_fixed_point(Ticks constant, double load, double late_work) {
  const double room = 1 - load;
  if (room < 1e-6) {
    return constant;
  }
  const double bound = (static_cast<double>(constant) + late_work) / room * (1 - 1e-9) - 1;
  return bound < static_cast<double>(kHorizon) ? std::max(constant, static_cast<Ticks>(bound))
                                               : kHorizon;
}

}  // namespace

void PreemptiveLevel::Sums::add(const Job& task) {
  const double u = load_of(task);
  load.add(task.wcet, task.period);
  late_work += static_cast<double>(task.jitter) * u;
  partial_work += static_cast<double>(task.wcet) * (1 - std::min(u, 1.0));
}

void PreemptiveLevel::add(const Job& task) {
  sums_.add(task);
  higher_.add(task.wcet, task.period, task.jitter);
  last_constant_ -= task.wcet;
}

Response PreemptiveLevel::response(const Job& task, Ticks deadline, std::span<const Job> peers,
                                   Budget& total) {
  Sums sums = sums_;
  for (const Job& peer : peers) {
    sums.add(peer);
  }
  Load with_own = sums.load;
  with_own.add(task.wcet, task.period);
  if (with_own.compare_with_one() > 0) {
    Response result;
    result.unbounded = true;
    result.note = "the load of this level and those above is more than the core: no bound exists";
    return result;
  }
  if (total.empty()) {
    return quick_bound(task, sums, "the exact analysis took too long");
  }
  Budget budget = total.part(steps_per_task_);
  const Ticks constant = sum(task.blocking, task.wcet);
  Ticks start =
      std::max<Ticks>(1, least_fixed_point(constant, sums.load.rounded(), sums.late_work));
  std::optional<Ticks> first;
  if (peers.empty()) {
    // The search can start at a higher value: w = constant + higher(w) was solved for a task
    // before, and each task that was added since brings at least one job. So the new w exceeds the
    // old one by at least what was added to the constant and to `higher`.
    const Ticks growth = constant - last_constant_;
    if (growth >= 0) {
      start = std::max(start, sum(reached_, growth));
    } else {
      higher_.rewind();
    }
    first = fixed_point(constant, start, higher_, budget);
    if (first) {
      reached_ = *first;
      last_constant_ = constant;
    } else {
      higher_.rewind();
      reached_ = 0;
      last_constant_ = 0;
    }
  } else {
    scratch_ = higher_;
    scratch_.rewind();
    for (const Job& peer : peers) {
      scratch_.add(peer.wcet, peer.period, peer.jitter);
    }
    first = fixed_point(constant, start, scratch_, budget);
  }
  Response result;
  if (!first) {
    result = quick_bound(task, sums, "the exact analysis took too long");
  } else if (*first <= task.period - task.jitter) {
    result = {.value = *first + task.jitter, .exact = true, .note = {}};
  } else {
    if (peers.empty()) {
      scratch_ = higher_;
    }
    result = later_jobs(task, deadline, *first, scratch_, sums, budget);
  }
  total.take(static_cast<std::size_t>(budget.used()));
  return result;
}

/// Examines later jobs: the busy period goes on when the next job is released before this one ends.
Response PreemptiveLevel::later_jobs(const Job& task, Ticks deadline, Ticks first, Demand& demand,
                                     const Sums& sums, Budget& budget) const {
  Load load = sums.load;
  load.add(task.wcet, task.period);
  // At a load of exactly 1 everything repeats after a hyperperiod.
  const auto hyperperiod = load.compare_with_one() == 0 ? load.hyperperiod() : std::nullopt;
  const Ticks last = hyperperiod ? *hyperperiod / task.period : kHorizon;
  Ticks worst = first;
  Ticks released = 0;  // arrival of the job under study
  std::optional<Ticks> w = first;
  for (Ticks q = 1; q < last; ++q) {
    released += task.period;
    if (*w <= released - task.jitter) {
      break;
    }
    w = fixed_point(sum(task.blocking, product(q + 1, task.wcet)), sum(*w, task.wcet), demand,
                    budget);
    if (!w || released > kHorizon / 2) {
      Response result = quick_bound(task, sums, "the busy period is too long to follow");
      if (!result.value && worst + task.jitter > deadline) {
        result.missed = true;
      }
      return result;
    }
    worst = std::max(worst, *w - released);
  }
  return {.value = worst + task.jitter, .exact = true, .note = {}};
}

/// Returns a bound that is quick to compute, with `why` in its note. In the busy period that ends
/// at w, the last job of task k is released at the latest C_k before w, so task k brings at most
/// U_k (w + J_k) + C_k (1 - U_k), where U_k is C_k / T_k. With a load up to 1 the first job is the
/// worst for this bound. The result has no value if the load is (almost) 1.
Response PreemptiveLevel::quick_bound(const Job& task, const Sums& sums, const std::string& why) {
  Response result;
  const double room = 1 - sums.load.rounded();
  if (room < 1e-6) {
    result.note = why + ", and the load leaves no room for a quick bound";
    return result;
  }
  const double constant = static_cast<double>(task.blocking) + static_cast<double>(task.wcet);
  const double bound =
      std::ceil((constant + sums.partial_work + sums.late_work) / room * (1 + 1e-9)) + 1;
  if (bound > static_cast<double>(kMaxTicks)) {
    result.note = why + ", and its quick bound is beyond what is followed";
    return result;
  }
  result.value = static_cast<Ticks>(bound) + task.jitter;
  result.note = why + ": a bound that is quick to compute";
  return result;
}

}  // namespace rclrt::analysis::detail
