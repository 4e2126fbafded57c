// SPDX-License-Identifier: Apache-2.0
// How a long trace is read in bounded memory: the oldest runs are counted and let go of.
#include <algorithm>
#include <iterator>
#include <utility>

#include "pools.hpp"
#include "traced_system.hpp"

namespace rclrt::trace {

namespace {

/// So many publications or parts of runs take about as much memory as one run.
constexpr std::size_t kPerRun = 4;

}  // namespace

void TracedSystem::list_busy(Thread& thread, std::int64_t process) {
  if (!std::exchange(thread.is_listed, true)) {
    busy_threads_[static_cast<std::size_t>(process)].push_back(&thread);
  }
}

/// Notes the callbacks that run while another one ends: if two runs overlap, one of them ends while
/// the other one goes on.
void TracedSystem::note_overlaps(const TracedInstance& ended) {
  const TracedCallback& own = callbacks_[ended.callback];
  auto& threads = busy_threads_[static_cast<std::size_t>(own.process)];
  std::erase_if(threads, [](Thread* thread) {
    thread->is_listed = !thread->running.empty();
    return !thread->is_listed;
  });
  for (const Thread* thread : threads) {
    for (const Running& each : thread->running) {
      const std::uint32_t other = each.instance.callback;
      if (other != kNone && other != ended.callback && own.group == 0 &&
          callbacks_[other].group == 0 && callbacks_[other].node == own.node &&
          each.instance.start_ns < ended.end_ns) {
        overlaps_.insert(std::minmax(ended.callback, other));
      }
    }
  }
}

/// Counts the oldest runs and lets go of them, if more are kept than RunLimits allows.
void TracedSystem::let_go_of_oldest() {
  const std::size_t most = streams_ ? 2 * limits_.latest : limits_.all;
  if (instances_.size() <= most && kept_publications_ <= kPerRun * most &&
      cpu_parts_.size() <= kPerRun * most) {
    return;
  }
  streams_ = true;
  note_threads_at_once();
  const std::size_t keep = std::min(limits_.latest, instances_.size() / 2);
  const auto kept = instances_.end() - static_cast<std::ptrdiff_t>(keep);
  for (auto each = instances_.begin(); each != kept; ++each) {
    kept_since_ns_ = std::max(kept_since_ns_, each->end_ns);
    count(*each);
  }
  if (sink_) {
    sink_({instances_.begin(), kept});
  }
  std::vector<TracedInstance> latest;
  latest.reserve(std::max(keep, std::min(2 * limits_.latest, limits_.all)) + 1);
  latest.assign(kept, instances_.end());
  instances_ = std::move(latest);
  let_go_of_parts();
  let_go_of_publications();
}

std::int64_t rcl_release_ns(const TracedCallback& timer, std::int64_t before_ns,
                            std::int64_t start_ns) {
  const std::int64_t since = std::max(before_ns, timer.created_ns) - timer.created_ns;
  const std::int64_t next = timer.created_ns + (since / timer.period_ns + 1) * timer.period_ns;
  // The timer was reset meanwhile, or its creation is not in the trace: a run is never early.
  return std::min(next, start_ns);
}

/// Notes how many threads ran callbacks of one executor at once among the runs that are kept.
void TracedSystem::note_threads_at_once() {
  totals_.resize(callbacks_.size());
  for (const Pool& pool : find_pools(*this)) {
    for (const std::uint32_t callback : pool.callbacks) {
      totals_[callback].threads_at_once = std::max(totals_[callback].threads_at_once, pool.threads);
    }
  }
}

void TracedSystem::count(TracedInstance& run) {
  totals_.resize(callbacks_.size());
  // A recorded thread has at least one switch after its last run.
  run.scheduled = run.scheduled && run.end_ns <= last_switch_ns_;
  RunTotals& totals = totals_[run.callback];
  if (totals.runs == 0) {
    first_runs_.push_back(run.callback);
  }
  const TracedCallback& callback = callbacks_[run.callback];
  TracedInstance released = run;
  if (run.release_ns == 0 && callback.kind == TriggerKind::kTimer && callback.period_ns > 0) {
    released.release_ns = rcl_release_ns(callback, totals.last_start_ns, run.start_ns);
  }
  totals.add(released, callback.period_ns);
}

/// Counts the runs that are kept at the end of the trace.
void TracedSystem::count_latest() {
  if (streams_) {
    note_threads_at_once();
    std::ranges::for_each(instances_, [this](TracedInstance& run) { count(run); });
  }
  if (sink_) {
    sink_(instances_);
  }
}

/// Removes the parts of runs that are not kept any more.
void TracedSystem::let_go_of_parts() {
  std::uint64_t first = cpu_parts_.size();
  for (const TracedInstance& each : instances_) {
    first = each.part_count > 0 ? std::min(first, each.first_part) : first;
  }
  cpu_parts_.erase(cpu_parts_.begin(), cpu_parts_.begin() + static_cast<std::ptrdiff_t>(first));
  for (TracedInstance& each : instances_) {
    each.first_part -= each.part_count > 0 ? first : 0;
  }
}

/// Removes the times of publications from before the runs that are kept; of a topic with very many
/// of them, also the older half.
void TracedSystem::let_go_of_publications() {
  const std::size_t most_of_topic = kPerRun * limits_.latest / 2;
  kept_publications_ = 0;
  for (std::vector<std::int64_t>& times : publication_times_) {
    auto first = std::ranges::lower_bound(times, kept_since_ns_);
    if (static_cast<std::size_t>(times.end() - first) > most_of_topic) {
      first = times.end() - static_cast<std::ptrdiff_t>(most_of_topic / 2);
    }
    times.erase(times.begin(), first);
    times.shrink_to_fit();
    kept_publications_ += times.size();
  }
}

}  // namespace rclrt::trace
