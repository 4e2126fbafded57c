// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/advice.hpp"

#include <algorithm>
#include <limits>
#include <rclrt/model/no_deadline.hpp>
#include <string>
#include <tuple>

namespace rclrt::analysis {

namespace {

using model::Application;
using model::CauseEffectChain;
using model::Nanoseconds;
using model::Timer;

constexpr Nanoseconds kLeastPeriod{1000};  ///< of an app.yaml
constexpr std::size_t kDepth = 10;         ///< of a new subscription

class Adviser {
 public:
  Adviser(const Application& application, const model::ExecutorChoice& executor,
          const Machine& machine, Effort effort)
      : stated_(application),
        executor_(executor),
        machine_(machine),
        effort_(effort),
        judged_(judge(application, executor, machine, effort)),
        priorities_(application.effective_priorities()) {}

  CauseEffectAdvice advise(std::size_t index) {
    const CauseEffectBound& bound = judged_.cause_effect_chains[index];
    index_ = index;
    result_ = {.reaction = bound.reaction, .age = bound.age, .changes = {}};
    const auto& segments = stated_.cause_effect_chains[index].segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      try_period(i);
      try_urgent(i);
      if (i > 0) {
        try_offset(i);
        try_message(i);
        try_patient(i);
      }
    }
    std::ranges::stable_sort(result_.changes, {}, [](const Advice& advice) {
      constexpr Ticks kNone = std::numeric_limits<Ticks>::max();
      return std::tuple(!advice.keeps_the_rest, advice.age.value_or(kNone),
                        advice.reaction.value_or(kNone));
    });
    return std::move(result_);
  }

 private:
  const CauseEffectChain& chain() const { return stated_.cause_effect_chains[index_]; }

  const std::vector<std::size_t>& path(std::size_t segment) const {
    return stated_.chains[chain().segments[segment].chain].callbacks;
  }

  std::size_t root(std::size_t segment) const { return path(segment).front(); }

  /// Returns the callback of the segment that reads the value of the segment before.
  std::size_t reader(std::size_t segment) const {
    return path(segment)[chain().segments[segment].entry];
  }

  static Timer* timer_of(Application& application, std::size_t callback) {
    return std::get_if<Timer>(&application.callbacks[callback].trigger);
  }

  /// Judges the changed application, and keeps the change if it lowers one of the bounds.
  Judgement consider(const Application& changed, Advice advice) {
    Judgement now = judge(changed, executor_, machine_, effort_);
    const CauseEffectBound& bound = now.cause_effect_chains[index_];
    advice.reaction = bound.reaction;
    advice.age = bound.age;
    const auto still = [](const auto& before, const auto& after) {
      return std::ranges::equal(before, after, [](const auto& was, const auto& is) {
        return !holds(was.verdict) || holds(is.verdict);
      });
    };
    advice.keeps_the_rest = still(judged_.chains, now.chains) &&
                            still(judged_.cause_effect_chains, now.cause_effect_chains);
    const auto lowers = [](const std::optional<Ticks>& before, const std::optional<Ticks>& after) {
      return after && (!before || *after < *before);
    };
    if (lowers(result_.reaction, advice.reaction) || lowers(result_.age, advice.age)) {
      result_.changes.push_back(advice);
    }
    return now;
  }

  void try_period(std::size_t segment) {
    Application changed = stated_;
    Timer* const timer = timer_of(changed, root(segment));
    if (timer == nullptr || timer->period < 2 * kLeastPeriod) {
      return;
    }
    const Nanoseconds before = timer->period;
    timer->period /= 2;
    timer->offset %= timer->period;
    for (model::Chain& each : changed.chains) {  // the period is the default of a deadline
      if (each.callbacks.front() == root(segment) && each.deadline == before) {
        each.deadline = timer->period;
      }
    }
    consider(changed, {.kind = Advice::Kind::kPeriod,
                       .segment = segment,
                       .callback = root(segment),
                       .time = timer->period.count()});
  }

  void try_urgent(std::size_t segment) {
    const auto& own = path(segment);
    const int highest = *std::ranges::max_element(priorities_);
    const auto is_own = [&](std::size_t callback) {
      return std::ranges::find(own, callback) != own.end();
    };
    int others = std::numeric_limits<int>::min();
    int lowest = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < priorities_.size(); ++i) {
      if (is_own(i)) {
        lowest = std::min(lowest, priorities_[i]);
      } else {
        others = std::max(others, priorities_[i]);
      }
    }
    if (lowest > others) {
      return;  // they are
    }
    Application changed = stated_;
    for (const std::size_t callback : own) {
      changed.callbacks[callback].priority = highest + 1;
    }
    consider(changed,
             {.kind = Advice::Kind::kUrgent, .segment = segment, .callback = root(segment)});
  }

  void try_offset(std::size_t segment) {
    Application changed = stated_;
    Timer* const from = timer_of(changed, root(segment - 1));
    Timer* const to = timer_of(changed, root(segment));
    const auto keeps_phase = [](const Timer* timer) {
      return timer != nullptr && timer->overrun != model::OverrunPolicy::kRebase;
    };
    if (!keeps_phase(from) || !keeps_phase(to)) {
      return;
    }
    from->offset_stated = to->offset_stated = true;
    // With known offsets the response may be shorter, so the second try has the better offset.
    std::optional<Ticks> stored = stored_after(judged_, segment - 1);
    std::optional<Advice> best;
    for (int i = 0; i < 2 && stored; ++i) {
      to->offset = (from->offset + Nanoseconds(*stored)) % to->period;
      const std::size_t found = result_.changes.size();
      const Judgement now = consider(changed, {.kind = Advice::Kind::kOffset,
                                               .segment = segment,
                                               .callback = root(segment),
                                               .time = to->offset.count()});
      if (result_.changes.size() > found) {
        const Advice latest = result_.changes.back();
        result_.changes.pop_back();
        best = best && best->age <= latest.age ? best : latest;
      }
      stored = stored_after(now, segment - 1);
    }
    if (best) {
      result_.changes.push_back(*best);
    }
  }

  /// Returns the time after its release at which the segment's value can be read, as far as the
  /// bounds count it.
  std::optional<Ticks> stored_after(const Judgement& judgement, std::size_t segment) const {
    for (const CauseEffectTerm& term : judgement.cause_effect_chains[index_].why) {
      if (term.segment == segment && (term.kind == CauseEffectTerm::Kind::kResponse ||
                                      term.kind == CauseEffectTerm::Kind::kLogical)) {
        return term.reaction;
      }
    }
    return std::nullopt;
  }

  void try_message(std::size_t segment) {
    const std::size_t reads = reader(segment);
    const std::size_t own = chain().segments[segment].chain;
    const std::size_t before = chain().segments[segment - 1].chain;
    if (reads != root(segment) || stated_.callbacks[reads].kind() != model::CallbackKind::kTimer ||
        !is_only_here(own) || stated_.chains[before].logical_execution) {
      return;
    }
    Application changed = stated_;
    const std::string topic = "rclrt_advice/" + stated_.callbacks[reads].id;
    model::Callback& writer = changed.callbacks[path(segment - 1).back()];
    writer.publishes.push_back(topic);
    for (auto& outputs : writer.routes) {
      outputs.push_back(writer.publishes.size() - 1);
    }
    changed.topics.push_back({.name = topic});
    changed.callbacks[reads].trigger = model::Subscription{.topics = {topic}, .depth = kDepth};
    changed.callbacks[reads].reads.clear();
    changed.callbacks[reads].samples.clear();
    auto& joined = changed.chains[own].callbacks;
    joined.insert(joined.begin(), path(segment - 1).begin(), path(segment - 1).end());
    auto& segments = changed.cause_effect_chains[index_].segments;
    segments[segment - 1].chain = own;
    segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(segment));
    changed.chains[own].priority =
        std::max(changed.chains[own].priority, changed.chains[before].priority);
    consider(changed, {.kind = Advice::Kind::kMessage, .segment = segment, .callback = reads});
  }

  /// Returns whether the chain has no deadline, no other chain starts at its timer, and it is a
  /// segment of no other cause-effect chain.
  bool is_only_here(std::size_t own) const {
    const std::size_t first = stated_.chains[own].callbacks.front();
    const auto starts = [&](const model::Chain& each) { return each.callbacks.front() == first; };
    const auto has = [&](const CauseEffectChain& each) {
      return std::ranges::any_of(each.segments,
                                 [&](const model::Segment& part) { return part.chain == own; });
    };
    return stated_.chains[own].deadline >= model::kNoDeadline &&
           std::ranges::count_if(stated_.chains, starts) == 1 &&
           std::ranges::count_if(stated_.cause_effect_chains, has) == 1;
  }

  void try_patient(std::size_t segment) {
    const std::size_t reads = reader(segment);
    int lowest = std::numeric_limits<int>::max();
    for (const std::size_t callback : path(segment - 1)) {
      lowest = std::min(lowest, priorities_[callback]);
    }
    if (priorities_[reads] < lowest || lowest <= 0) {
      return;
    }
    Application changed = stated_;
    changed.callbacks[reads].priority = lowest - 1;
    consider(changed, {.kind = Advice::Kind::kPatient, .segment = segment, .callback = reads});
  }

  const Application& stated_;
  const model::ExecutorChoice& executor_;
  const Machine& machine_;
  Effort effort_;
  Judgement judged_;  ///< of the application as it is
  std::vector<int> priorities_;
  std::size_t index_ = 0;  ///< the cause-effect chain
  CauseEffectAdvice result_;
};

}  // namespace

std::vector<CauseEffectAdvice> advise(const Application& application,
                                      const model::ExecutorChoice& executor, const Machine& machine,
                                      Effort effort) {
  Adviser adviser(application, executor, machine, effort);
  std::vector<CauseEffectAdvice> result;
  for (std::size_t i = 0; i < application.cause_effect_chains.size(); ++i) {
    result.push_back(adviser.advise(i));
  }
  return result;
}

}  // namespace rclrt::analysis
