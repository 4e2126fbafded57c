// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "demand.hpp"
#include "load.hpp"
#include "rclrt/analysis/edf.hpp"
#include "tasks/check_tasks.hpp"

namespace rclrt::analysis {
namespace {

using detail::product;
using detail::sum;

struct Part {
  Ticks wcet;  // with suspension
  Ticks period;
  Ticks first;  // D - J: the earliest deadline after time 0
  Ticks blocking;
};

/// Returns the processor demand: the work of jobs released from 0 on with deadlines up to t, plus
/// the longest blocking of a task that has a deadline up to t.
Ticks demand_by(const std::vector<Part>& parts, Ticks t) {
  Ticks work = 0;
  Ticks blocking = 0;
  for (const Part& part : parts) {
    if (part.first > t) {
      continue;
    }
    work = sum(work, product((t - part.first) / part.period + 1, part.wcet));
    blocking = std::max(blocking, part.blocking);
  }
  return sum(work, blocking);
}

/// Returns the last deadline before t; -1 when there is none.
Ticks deadline_before(const std::vector<Part>& parts, Ticks t) {
  Ticks last = -1;
  for (const Part& part : parts) {
    if (part.first >= t) {
      continue;
    }
    last = std::max(last, part.first + (t - 1 - part.first) / part.period * part.period);
  }
  return last;
}

/// Returns a time such that, if no deadline up to it is missed, none is ever missed. Zhang and
/// Burns 2009, equations 4 and 5, extended by blocking. nullopt if neither equation gives a time.
std::optional<Ticks> horizon(std::span<const Task> tasks, const std::vector<Part>& parts,
                             const detail::Load& load, detail::Budget& budget) {
  Ticks blocking = 0;
  Ticks farthest = 0;
  double slack = 0;
  detail::Demand all(detail::Count::kBefore);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    blocking = std::max(blocking, part.blocking);
    farthest = std::max(farthest, part.first);
    slack += (static_cast<double>(part.period) - static_cast<double>(part.first)) *
             static_cast<double>(part.wcet) / static_cast<double>(part.period);
    all.add(part.wcet, part.period, tasks[i].jitter);
  }
  std::optional<Ticks> result;
  const double room = 1 - load.rounded();
  if (room > 1e-6) {
    const double bound = std::ceil((slack + static_cast<double>(blocking)) / room * (1 + 1e-9)) + 1;
    if (bound < static_cast<double>(kMaxTicks)) {
      result = std::max(farthest, static_cast<Ticks>(std::max(bound, 0.0)));
    }
  }
  if (load.compare_with_one() == 0 && load.hyperperiod()) {
    // From `farthest`, the latest first deadline, on, the demand grows by a hyperperiod's
    // work in each hyperperiod.
    return sum(farthest, *load.hyperperiod());
  }
  detail::Budget share = budget.part(budget.left() / 4);
  const auto busy = detail::fixed_point(blocking, std::max<Ticks>(1, blocking), all, share);
  budget.take(static_cast<std::size_t>(share.used()));
  if (busy && (!result || *busy < *result)) {
    result = busy;
  }
  return result;
}

}  // namespace

Answer edf_demand_test(std::span<const Task> tasks, Effort effort) {
  detail::check_tasks(tasks);
  detail::Budget budget(effort);
  detail::Load load;
  detail::Load executing;
  std::vector<Part> parts;
  parts.reserve(tasks.size());
  for (const Task& task : tasks) {
    const Ticks wcet = task.wcet + task.suspension;
    if (sum(wcet, task.jitter) > task.deadline) {
      return Answer::kNo;
    }
    load.add(wcet, task.period);
    executing.add(task.wcet, task.period);
    parts.push_back({wcet, task.period, task.deadline - task.jitter, task.blocking});
  }
  if (executing.compare_with_one() > 0) {
    return Answer::kNo;
  }
  // A failed test proves nothing when suspension counts as computation.
  const bool suspends =
      std::ranges::any_of(tasks, [](const Task& task) { return task.suspension > 0; });
  const Answer no = suspends ? Answer::kUnknown : Answer::kNo;
  if (load.compare_with_one() > 0) {
    return no;
  }
  const auto end = horizon(tasks, parts, load, budget);
  if (!end) {
    return Answer::kUnknown;
  }
  // From the horizon down: all deadlines between the demand and t are met.
  Ticks t = deadline_before(parts, sum(*end, 1));
  while (t >= 0) {
    if (!budget.take(2 * parts.size())) {
      return Answer::kUnknown;
    }
    const Ticks demand = demand_by(parts, t);
    if (demand > t) {
      return no;
    }
    t = demand < t ? deadline_before(parts, demand + 1) : deadline_before(parts, t);
  }
  return Answer::kYes;
}

}  // namespace rclrt::analysis
