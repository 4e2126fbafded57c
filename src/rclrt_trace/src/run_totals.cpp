// SPDX-License-Identifier: Apache-2.0
#include "run_totals.hpp"

#include <cstdlib>

namespace rclrt::trace {

std::int64_t execution_time_ns(const TracedInstance& run) {
  const bool counts_wait = run.scheduled && run.waited_ns < kNotedWait_ns;
  return run.cpu_ns() + (counts_wait ? run.waited_ns : 0);
}

void Intervals::add(std::int64_t time_ns) {
  if (last_ns_) {
    const std::int64_t interval_ns = std::abs(time_ns - *last_ns_);
    least_ns_ = std::min(least_ns_, interval_ns);
    most_ns_ = std::max(most_ns_, interval_ns);
  }
  last_ns_ = time_ns;
}

void RunTotals::add(const TracedInstance& run, std::int64_t period_ns) {
  ++runs;
  std::optional<recorder::TimeDistribution>& times = run.scheduled ? cpu : wall;
  if (!times) {
    times.emplace();
  }
  times->add(execution_time_ns(run));
  std::int64_t& longest = run.scheduled ? longest_wait_ns : longest_other_wait_ns;
  longest = std::max(longest, run.waited_ns);
  longest_run_ns = std::max(longest_run_ns, run.end_ns - run.start_ns);
  last_start_ns = std::max(last_start_ns, run.start_ns);
  threads[run.thread].add({run.start_ns, run.end_ns});
  cpus.insert(run.first_cpu);
  has_ready_times = has_ready_times || run.ready_ns != 0;
  starts.add(run.start_ns);
  sent.add(run.sent_ns);
  are_sent = are_sent && run.sent_ns != 0 && run.sent_ns != last_sent_ns_;
  last_sent_ns_ = run.sent_ns;
  if (run.release_ns != 0) {
    releases.add(run.release_ns, period_ns);
    earliest_ns = std::min(earliest_ns, run.release_ns);
  } else {
    earliest_ns = std::min(earliest_ns, run.published_ns != 0 ? run.published_ns : run.start_ns);
  }
}

RunSpan RunTotals::span() const {
  RunSpan result;
  for (const auto& [thread, span] : threads) {
    result.add(span);
  }
  return result;
}

}  // namespace rclrt::trace
