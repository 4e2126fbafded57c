// SPDX-License-Identifier: Apache-2.0
#include "pools.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace rclrt::trace {

namespace {

/// Timers with a longer period are not judged. A damaged trace may have any period.
constexpr std::int64_t kLongestPeriod_ns = 3'600'000'000'000;

/// Joins threads that ran the same callback.
class ThreadSets {
 public:
  explicit ThreadSets(std::size_t threads) : parent_(threads) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t root(std::uint32_t thread) {
    while (parent_[thread] != thread) {
      thread = parent_[thread] = parent_[parent_[thread]];
    }
    return thread;
  }
  void join(std::uint32_t one, std::uint32_t other) { parent_[root(one)] = root(other); }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Adds the callbacks that never ran to the pool of their nodes, if there is a single one.
void add_silent_callbacks(const TracedSystem& system, const std::vector<std::uint32_t>& pool_of,
                          std::vector<Pool>& pools) {
  std::map<std::uint32_t, std::set<std::uint32_t>> of_node;
  for (std::uint32_t i = 0; i < pool_of.size(); ++i) {
    if (pool_of[i] != kNone) {
      of_node[system.callbacks()[i].node].insert(pool_of[i]);
    }
  }
  for (std::uint32_t i = 0; i < pool_of.size(); ++i) {
    const std::uint32_t node = system.callbacks()[i].node;
    if (pool_of[i] == kNone && node != kNone && of_node[node].size() == 1) {
      pools[*of_node[node].begin()].callbacks.push_back(i);
    }
  }
}

void sort_runs(Pool& pool) {
  std::ranges::stable_sort(pool.runs, {}, &TracedInstance::start_ns);
  std::int64_t latest_ns = INT64_MIN;
  for (const TracedInstance* run : pool.runs) {
    pool.runs_of[run->callback].push_back(run);
    latest_ns = std::max(latest_ns, run->end_ns);
    pool.latest_end_ns.push_back(latest_ns);
  }
  pool.threads = most_threads_at_once(pool.runs);
}

/// A run of the callback, or a time for which events may be missing.
struct Occupied {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  const TracedInstance* run = nullptr;
};

/// Finds when one callback was due.
class Due {
 public:
  Due(const TracedSystem& system, std::uint32_t callback)
      : callback_(system.callbacks()[callback]) {
    for (const TracedInput& input : callback_.inputs) {
      if (input.topic != kNone) {
        const auto& times = system.publications(input.topic);
        published_.insert(published_.end(), times.begin(), times.end());
      }
    }
    std::ranges::sort(published_);
  }

  /// Returns since when the callback was due before `next`, or up to now if that is null.
  /// `before` has the end of all earlier runs. nullopt: it was not due, or that is not known.
  std::optional<std::int64_t> since(const Occupied& before, const TracedInstance* next) const {
    if (callback_.kind == TriggerKind::kTimer) {
      return timer_due(before, next);
    }
    if (callback_.kind != TriggerKind::kSubscription || before.run == nullptr) {
      return std::nullopt;
    }
    if (next != nullptr && next->published_ns != 0 && next->published_ns <= before.start_ns) {
      return before.end_ns;  // its message was queued during the previous run
    }
    const auto first = std::ranges::upper_bound(published_, before.start_ns);
    return first == published_.end() ? std::nullopt : std::optional(*first);
  }

 private:
  std::optional<std::int64_t> timer_due(const Occupied& before, const TracedInstance* next) const {
    if (callback_.period_ns <= 0 || callback_.period_ns > kLongestPeriod_ns) {
      return std::nullopt;
    }
    if (next != nullptr && next->release_ns != 0) {
      return next->release_ns;
    }
    if (before.run != nullptr && before.run->release_ns != 0 &&
        before.run->release_ns <= before.start_ns) {
      return before.run->release_ns + callback_.period_ns;
    }
    const std::int64_t from_ns = before.run != nullptr ? before.start_ns : before.end_ns;
    if (from_ns == INT64_MAX) {
      return std::nullopt;  // the rest of the trace is missing
    }
    const std::int64_t since_ns = std::max(from_ns, callback_.created_ns) - callback_.created_ns;
    return callback_.created_ns + (since_ns / callback_.period_ns + 1) * callback_.period_ns;
  }

  const TracedCallback& callback_;
  std::vector<std::int64_t> published_;
};

}  // namespace

std::vector<Pool> find_pools(const TracedSystem& system) {
  ThreadSets threads(system.threads().size());
  std::vector<std::uint32_t> thread_of(system.callbacks().size(), kNone);
  const auto join = [&](std::uint32_t callback, std::uint32_t thread) {
    if (system.callbacks()[callback].executor != kNone) {
      return;
    }
    std::uint32_t& first = thread_of[callback];
    first = first == kNone ? thread : first;
    threads.join(thread, first);
  };
  for (const std::uint32_t callback : system.first_runs()) {  // also of runs that are not kept
    for (const auto& [thread, span] : system.totals()[callback].threads) {
      join(callback, thread);
    }
  }
  for (const TracedInstance& run : system.instances()) {
    join(run.callback, run.thread);
  }
  std::vector<Pool> pools;
  std::vector<std::uint32_t> pool_of(system.callbacks().size(), kNone);
  std::map<std::pair<bool, std::uint32_t>, std::uint32_t> known;  // by executor or thread
  const auto pool_for = [&](std::uint32_t of, std::uint32_t thread) -> Pool& {
    const TracedCallback& callback = system.callbacks()[of];
    const bool is_stated = callback.executor != kNone;
    const std::uint32_t key = is_stated ? callback.executor : threads.root(thread);
    const auto [found, fresh] =
        known.try_emplace({is_stated, key}, static_cast<std::uint32_t>(pools.size()));
    if (fresh) {
      pools.push_back({.process = callback.process, .is_stated = is_stated});
    }
    Pool& pool = pools[found->second];
    if (pool_of[of] == kNone) {
      pool_of[of] = found->second;
      pool.callbacks.push_back(of);
    }
    return pool;
  };
  for (const std::uint32_t callback : system.first_runs()) {
    pool_for(callback, system.totals()[callback].threads.begin()->first);
  }
  for (const TracedInstance& run : system.instances()) {
    pool_for(run.callback, run.thread).runs.push_back(&run);
  }
  std::ranges::for_each(pools, sort_runs);
  for (const std::uint32_t callback : system.first_runs()) {
    std::size_t& most = pools[pool_of[callback]].threads;
    most = std::max(most, system.totals()[callback].threads_at_once);
  }
  add_silent_callbacks(system, pool_of, pools);
  return pools;
}

std::size_t most_threads_at_once(std::vector<const TracedInstance*> runs) {
  std::ranges::stable_sort(runs, {}, &TracedInstance::start_ns);
  std::multimap<std::int64_t, std::uint32_t> ends;      // of runs in progress, with their threads
  std::unordered_map<std::uint32_t, std::size_t> busy;  // runs in progress, by thread
  std::size_t most = 0;
  for (const TracedInstance* run : runs) {
    while (!ends.empty() && ends.begin()->first <= run->start_ns) {
      const auto of = busy.find(ends.begin()->second);
      if (--of->second == 0) {
        busy.erase(of);
      }
      ends.erase(ends.begin());
    }
    ends.emplace(run->end_ns, run->thread);
    ++busy[run->thread];
    most = std::max(most, busy.size());
  }
  return most;
}

void visit_stretches(const Pool& pool, std::int64_t from_ns, std::int64_t to_ns,
                     std::int64_t& steps, const std::function<void(const Stretch&)>& visit) {
  auto at = static_cast<std::size_t>(std::ranges::upper_bound(pool.latest_end_ns, from_ns) -
                                     pool.latest_end_ns.begin());
  std::vector<const TracedInstance*> running;
  while (from_ns < to_ns && steps > 0) {
    const std::size_t first = at;
    std::erase_if(running, [&](const auto* run) { return run->end_ns <= from_ns; });
    for (; at < pool.runs.size() && pool.runs[at]->start_ns <= from_ns; ++at) {
      if (pool.runs[at]->end_ns > from_ns) {
        running.push_back(pool.runs[at]);
      }
    }
    std::int64_t next_ns = at < pool.runs.size() ? std::min(to_ns, pool.runs[at]->start_ns) : to_ns;
    for (const TracedInstance* run : running) {
      next_ns = std::min(next_ns, run->end_ns);
    }
    const std::size_t cost = running.size() * running.size() + (at - first) + 1;
    steps -= static_cast<std::int64_t>(cost);
    visit({from_ns, next_ns, running});
    from_ns = next_ns;
  }
}

std::size_t busy_threads(const std::vector<const TracedInstance*>& running) {
  std::size_t busy = 0;
  for (auto run = running.begin(); run != running.end(); ++run) {
    busy += std::any_of(running.begin(), run,
                        [&](const auto* before) { return before->thread == (*run)->thread; })
                ? 0
                : 1;
  }
  return busy;
}

std::int64_t release_interval_ns(const TracedSystem& system, std::uint32_t callback) {
  const TracedCallback& of = system.callbacks()[callback];
  if (of.kind == TriggerKind::kTimer) {
    return of.period_ns;
  }
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;
  std::int64_t count = 0;
  for (const TracedInput& input : of.inputs) {
    if (input.topic != kNone && system.publication_count(input.topic).count > 0) {
      const TracedSystem::PublicationCount& published = system.publication_count(input.topic);
      first_ns = std::min(first_ns, published.first_ns);
      last_ns = std::max(last_ns, published.last_ns);
      count += static_cast<std::int64_t>(published.count);
    }
  }
  return count < 2 ? 0 : (last_ns - first_ns) / (count - 1);
}

std::vector<Wait> find_waits(const TracedSystem& system, const Pool& pool, std::uint32_t callback) {
  std::vector<Wait> waits;
  if (pool.runs.empty()) {
    return waits;
  }
  std::vector<Occupied> occupied;
  if (const auto runs = pool.runs_of.find(callback); runs != pool.runs_of.end()) {
    for (const TracedInstance* run : runs->second) {
      occupied.push_back({run->start_ns, run->end_ns, run});
    }
  }
  for (const LostTime& lost : system.lost_times()) {
    occupied.push_back({lost.from_ns, lost.to_ns});
  }
  std::ranges::stable_sort(occupied, {}, &Occupied::start_ns);
  const std::int64_t pool_end_ns = pool.latest_end_ns.back();
  const Due due(system, callback);
  const std::int64_t begin_ns = std::max(
      {system.first_run_ns(), system.callbacks()[callback].created_ns, system.kept_since_ns()});
  Occupied before{begin_ns, begin_ns};
  const auto add = [&](std::int64_t to_ns, const TracedInstance* next) {
    const auto since_ns = due.since(before, next);
    const std::int64_t from_ns = since_ns ? std::max(*since_ns, before.end_ns) : to_ns;
    if (from_ns < to_ns) {
      waits.push_back({callback, from_ns, to_ns, next});
    }
  };
  for (const Occupied& each : occupied) {
    add(std::min(each.start_ns, pool_end_ns), each.run);
    before = {each.start_ns, std::max(before.end_ns, each.end_ns), each.run};
  }
  add(pool_end_ns, nullptr);
  return waits;
}

}  // namespace rclrt::trace
