// SPDX-License-Identifier: Apache-2.0
#include "starvation.hpp"

#include <algorithm>
#include <set>

#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::trace {

namespace {

/// Within this time, a free thread begins a callback that is due. On a busy machine it may take
/// longer, so such times are added up, and only a share of the wait counts.
constexpr std::int64_t kReaction_ns = 1'000'000;
/// The steps of one search in all waits of a trace: some seconds.
constexpr std::int64_t kSteps = 300'000'000;
/// One part in so many of a wait may be without any reason to wait.
constexpr std::int64_t kUnexplainedPart = 20;

bool serves_tools(const TracedSystem& system, const TracedCallback& callback) {
  return callback.kind == TriggerKind::kService ||
         std::ranges::any_of(callback.inputs, [&](const TracedInput& input) {
           return input.topic == kNone || model::is_tool_topic(system.topic(input.topic));
         });
}

/// Adds up contiguous times and leaves out those that are not longer than kReaction_ns.
class LongTimes {
 public:
  void add(const Stretch& stretch, bool counts) {
    if (counts) {
      current_ns_ += stretch.to_ns - stretch.from_ns;
    } else {
      end();
    }
  }
  std::int64_t total_ns() {
    end();
    return total_ns_;
  }

 private:
  void end() {
    total_ns_ += current_ns_ > kReaction_ns ? current_ns_ : 0;
    current_ns_ = 0;
  }
  std::int64_t current_ns_ = 0;
  std::int64_t total_ns_ = 0;
};

bool is_unexplained(std::int64_t time_ns, const Wait& wait) {
  return time_ns > (wait.to_ns - wait.from_ns) / kUnexplainedPart;
}

/// Counts, for one pool, the runs for which callbacks of the same node waited.
class ExclusionSearch {
 public:
  ExclusionSearch(const TracedSystem& system, const Lives& lives, const Pool& pool,
                  const std::map<std::uint32_t, std::int64_t>& stopped, std::int64_t& steps,
                  WaitsForRuns& found)
      : system_(system),
        lives_(lives),
        pool_(pool),
        stopped_(stopped),
        steps_(steps),
        found_(found) {}

  void search(std::uint32_t callback) {
    const TracedCallback& own = system_.callbacks()[callback];
    if (own.node == kNone || own.group != 0 || serves_tools(system_, own)) {
      return;
    }
    const bool has_stopped = stopped_.contains(lives_.callback_of[callback]);
    for (const Wait& wait : find_waits(system_, pool_, callback)) {
      const bool counts = wait.next != nullptr || !has_stopped;
      if (counts && wait.to_ns - wait.from_ns > kReaction_ns) {
        judge(wait, own.node);
      }
    }
  }

 private:
  void judge(const Wait& wait, std::uint32_t node) {
    LongTimes without_reason;
    std::map<const TracedInstance*, std::int64_t> waited_for;
    visit_stretches(pool_, wait.from_ns, wait.to_ns, steps_, [&](const Stretch& stretch) {
      const bool is_free = busy_threads(stretch.running) < pool_.threads;
      const TracedInstance* only = nullptr;
      std::size_t of_node = 0;
      for (const TracedInstance* run : stretch.running) {
        const TracedCallback& other = system_.callbacks()[run->callback];
        if (other.node == node && other.group == 0) {
          only = run;
          ++of_node;
        }
      }
      without_reason.add(stretch, is_free && of_node == 0);
      if (is_free && of_node == 1) {
        waited_for[only] += stretch.to_ns - stretch.from_ns;
      }
    });
    if (is_unexplained(without_reason.total_ns(), wait)) {
      return;
    }
    for (const auto& [run, time_ns] : waited_for) {
      if (time_ns >= kReaction_ns && run->callback != wait.callback) {
        ++found_[{lives_.callback_of[wait.callback], lives_.callback_of[run->callback]}];
      }
    }
  }

  const TracedSystem& system_;
  const Lives& lives_;
  const Pool& pool_;
  const std::map<std::uint32_t, std::int64_t>& stopped_;
  std::int64_t& steps_;
  WaitsForRuns& found_;
};

/// Judges the waits of the callbacks of one pool.
class StarvationSearch {
 public:
  StarvationSearch(const TracedSystem& system, const Lives& lives, const Pool& pool,
                   const GroupNumbers& groups, const std::vector<std::int64_t>& last_starts,
                   std::int64_t& steps, StarvationFindings& findings)
      : system_(system),
        lives_(lives),
        pool_(pool),
        groups_(groups),
        last_starts_(last_starts),
        steps_(steps),
        findings_(findings) {}

  void search(std::uint32_t callback) {
    const std::int64_t period_ns = release_interval_ns(system_, callback);
    if (period_ns <= 0 || serves_tools(system_, system_.callbacks()[callback])) {
      return;
    }
    for (const Wait& wait : find_waits(system_, pool_, callback)) {
      const bool has_next_life =
          wait.next == nullptr && last_starts_[lives_.callback_of[callback]] > wait.from_ns;
      if (!has_next_life && (wait.to_ns - wait.from_ns) / kStarvingPeriods >= period_ns) {
        judge(wait, period_ns);
      }
    }
  }

 private:
  struct Starts {
    std::uint64_t count = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
  };

  bool is_of_group(std::uint32_t callback, std::uint32_t other) const {
    const std::uint32_t group = groups_[lives_.callback_of[callback]];
    return group != 0 && groups_[lives_.callback_of[other]] == group;
  }

  bool is_equal(std::uint32_t callback, std::uint32_t other) const {
    const auto priority = [&](std::uint32_t of) {
      return system_.callbacks()[of].priority.value_or(0);
    };
    return lives_.callback_of[callback] != lives_.callback_of[other] &&
           priority(callback) == priority(other);
  }

  void judge(const Wait& wait, std::int64_t period_ns) {
    Starvation found{.wait = wait, .period_ns = period_ns};
    LongTimes open;
    std::map<std::uint32_t, Starts> starts;
    visit_stretches(pool_, wait.from_ns, wait.to_ns, steps_, [&](const Stretch& stretch) {
      const bool is_free = busy_threads(stretch.running) < pool_.threads;
      const auto of_group = std::ranges::count_if(stretch.running, [&](const auto* run) {
        return is_of_group(wait.callback, run->callback);
      });
      found.free_ns += is_free ? stretch.to_ns - stretch.from_ns : 0;
      open.add(stretch, is_free && of_group == 0);
      for (const TracedInstance* run : stretch.running) {
        const std::int64_t others = of_group - (is_of_group(wait.callback, run->callback) ? 1 : 0);
        if (run->start_ns == stretch.from_ns && run->start_ns > wait.from_ns && others == 0 &&
            is_equal(wait.callback, run->callback)) {
          Starts& of = starts[run->callback];
          of.first_ns = of.count == 0 ? run->start_ns : of.first_ns;
          of.last_ns = run->start_ns;
          ++of.count;
        }
      }
    });
    found.open_ns = open.total_ns();
    const auto most =
        std::ranges::max_element(starts, {}, [](const auto& each) { return each.second.count; });
    if (most == starts.end() || most->second.count < kStarvingPeriods ||
        most->second.last_ns - most->second.first_ns < (wait.to_ns - wait.from_ns) / 2) {
      return;
    }
    found.overtaker = lives_.callback_of[most->first];
    found.overtakes = most->second.count;
    found.is_of_its_group = is_of_group(wait.callback, most->first);
    add(found);
  }

  /// Adds what was found, if nothing else explains it.
  void add(Starvation found) {
    const Wait& wait = found.wait;
    const std::uint32_t callback = lives_.callback_of[wait.callback];
    if (is_unexplained(found.open_ns, wait)) {
      if (pool_.is_stated || found.open_ns / kStarvingPeriods < found.period_ns) {
        return;
      }
      if (wait.next == nullptr && wait.to_ns == pool_.latest_end_ns.back()) {
        findings_.stopped.emplace(callback, wait.from_ns);
        return;
      }
      // A message that was taken had waited. A timer may have been cancelled and reset.
      if (wait.next == nullptr || wait.next->published_ns == 0 ||
          (wait.to_ns - wait.next->published_ns) / kStarvingPeriods < found.period_ns) {
        return;
      }
      found.is_forgotten = true;
    }
    const auto known = std::ranges::find(
        findings_.starved, callback, [&](const Starvation& each) { return each.wait.callback; });
    found.wait.callback = callback;
    found.times = 1;
    if (known == findings_.starved.end()) {
      findings_.starved.push_back(found);
      return;
    }
    found.times += known->times;
    if (wait.to_ns - wait.from_ns <= known->wait.to_ns - known->wait.from_ns) {
      known->times = found.times;
      return;
    }
    *known = found;
  }

  const TracedSystem& system_;
  const Lives& lives_;
  const Pool& pool_;
  const GroupNumbers& groups_;
  const std::vector<std::int64_t>& last_starts_;  // of all lives of a callback
  std::int64_t& steps_;
  StarvationFindings& findings_;
};

/// Calls `judge` for each callback of each executor of several threads.
template <typename Judge>
void for_each_callback(const std::vector<Pool>& pools, Judge judge) {
  for (const Pool& pool : pools) {
    if (pool.threads > 1) {
      for (const std::uint32_t callback : pool.callbacks) {
        judge(pool, callback);
      }
    }
  }
}

}  // namespace

WaitsForRuns count_waits_for_runs(const TracedSystem& system, const Lives& lives,
                                  const std::vector<Pool>& pools,
                                  const std::map<std::uint32_t, std::int64_t>& stopped) {
  WaitsForRuns found;
  std::int64_t steps = kSteps;
  for_each_callback(pools, [&](const Pool& pool, std::uint32_t callback) {
    if (!pool.is_stated) {
      ExclusionSearch(system, lives, pool, stopped, steps, found).search(callback);
    }
  });
  return found;
}

StarvationFindings find_starvation(const TracedSystem& system, const Lives& lives,
                                   const std::vector<Pool>& pools, const GroupNumbers& groups) {
  StarvationFindings findings;
  std::int64_t steps = kSteps;
  std::vector<std::int64_t> last_starts(lives.callback_of.size(), INT64_MIN);
  for (const TracedInstance& run : system.instances()) {
    std::int64_t& last = last_starts[lives.callback_of[run.callback]];
    last = std::max(last, run.start_ns);
  }
  for (const std::uint32_t callback : system.first_runs()) {
    std::int64_t& last = last_starts[lives.callback_of[callback]];
    last = std::max(last, system.totals()[callback].last_start_ns);
  }
  for_each_callback(pools, [&](const Pool& pool, std::uint32_t callback) {
    StarvationSearch(system, lives, pool, groups, last_starts, steps, findings).search(callback);
  });
  findings.is_complete = steps > 0;
  return findings;
}

}  // namespace rclrt::trace
