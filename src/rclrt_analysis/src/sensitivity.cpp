// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/sensitivity.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "bounds/deadline_trials.hpp"
#include "margin_search.hpp"
#include "quality.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/model/link_messages.hpp"

namespace rclrt::analysis {
namespace {

constexpr Ticks kHour_ns = Ticks{3600} * 1'000'000'000;
constexpr Ticks kMillion = 1'000'000;
constexpr model::Nanoseconds kLeastInterval{1000};  ///< of events in an app.yaml
constexpr std::int64_t kMoreSteps = 8;

/// Returns `time` times `factor` (in millionths), rounded up.
Ticks scaled(Ticks time, Ticks factor) {
  __extension__ using Wide = __int128;
  const Wide product = (static_cast<Wide>(time) * factor + kMillion - 1) / kMillion;
  return static_cast<Ticks>(std::min<Wide>(product, kMaxTicks));
}

/// The deadlines of an application for values of one of its times, which `set` sets. It returns
/// false for a value that no application may have.
class ApplicationTrials : public detail::TimeTrials {
 public:
  using Set = std::function<bool(Ticks)>;
  using Proved = std::function<bool()>;

  /// `fewer`, `more`: the same trials with fewer and with more steps.
  ApplicationTrials(detail::DeadlineTrials& trials, detail::DeadlineTrials& fewer,
                    detail::DeadlineTrials& more, Set set, Proved proved)
      : trials_(trials),
        fewer_(fewer),
        more_(more),
        set_(std::move(set)),
        proved_(std::move(proved)) {}

  std::optional<std::size_t> first_missed(Ticks value, detail::Look look) override {
    return put(value) ? trials_.first_missed(look) : std::optional(trials_.number() - 1);
  }

  Ticks room(Ticks value, std::size_t deadline, detail::Look look) override {
    return put(value) ? trials_.room(deadline, look) : -detail::kHorizon;
  }

  bool has_quick_look() const override { return trials_.has_quick_look(); }

  bool proved(Ticks value) override { return put(value) && proved_(); }

  bool surely_holds(Ticks value) override { return put(value) && all_hold(fewer_); }

  bool surely_misses(Ticks value) override { return !put(value) || !all_hold(more_); }

 private:
  bool put(Ticks value) {
    if (value != value_) {
      value_ = value;
      is_legal_ = set_(value);
      trials_.times_changed();
    }
    return is_legal_;
  }

  static bool all_hold(detail::DeadlineTrials& trials) {
    trials.times_changed();
    return !trials.first_missed(detail::Look::kFull);
  }

  detail::DeadlineTrials& trials_;
  detail::DeadlineTrials& fewer_;
  detail::DeadlineTrials& more_;
  Set set_;
  Proved proved_;
  std::optional<Ticks> value_;
  bool is_legal_{};
};

class OfApplication {
 public:
  OfApplication(const model::Application& application, const model::ExecutorChoice& executor,
                const Machine& machine, Effort effort)
      : stated_(application),
        tried_(application),
        executor_(executor),
        machine_(machine),
        overheads_(machine.overheads),
        effort_(effort) {}

  Sensitivity run() {
    // Some trials need more steps than the application itself.
    const Effort asked = effort_;
    bool holds = is_proved();
    while (!holds && effort_.steps < Effort{}.steps) {
      effort_.steps = std::min(effort_.steps * kMoreSteps, Effort{}.steps);
      holds = is_proved();
    }
    effort_ = holds ? effort_ : asked;  // more steps are of no use
    effort_.steps = std::min(effort_.steps, Effort{}.steps / kMoreSteps) * kMoreSteps;
    trials_.emplace(tried_, executor_, overheads_, effort_);
    // The whole analysis has its steps for all chains and queues together.
    fewer_.emplace(tried_, executor_, overheads_,
                   scaled_by(1, std::max(kMoreSteps, std::ssize(stated_.chains) + 1)));
    more_.emplace(tried_, executor_, overheads_, scaled_by(kMoreSteps, 1));
    search_.emplace(holds);
    Sensitivity result;
    result.factor = margin({0, kMillion, kMaxFactor}, [this](Ticks factor) {
      for (std::size_t i = 0; i < tried_.callbacks.size(); ++i) {
        tried_.callbacks[i].wcet = ns(scaled(stated_.callbacks[i].wcet.count(), factor));
      }
      return true;
    });
    tried_ = stated_;
    for (std::size_t i = 0; i < tried_.callbacks.size(); ++i) {
      result.wcets.push_back(wcet(i));
      result.periods.push_back(period(i));
    }
    return result;
  }

 private:
  static model::Nanoseconds ns(Ticks time) { return model::Nanoseconds(time); }

  Effort scaled_by(std::int64_t factor, std::int64_t divisor) const {
    Effort result = effort_;
    result.steps = result.steps * factor / divisor;
    return result;
  }

  /// Returns whether chain_bounds() and cause_effect_bounds() prove everything, with this effort.
  bool is_proved() const { return quality(tried_, executor_, overheads_, effort_).not_proved == 0; }

  /// Returns whether something holds only under a condition with the times that are tried.
  bool is_conditional() const {
    return !machine_.conditions.empty() ||
           throttling_condition(model::with_distinct_cpus(tried_), machine_) ||
           quality(tried_, executor_, overheads_, effort_).conditional > 0;
  }

  Margin margin(const detail::TimeRange& range, const ApplicationTrials::Set& set) {
    ApplicationTrials trials(*trials_, *fewer_, *more_, set, [this] { return is_proved(); });
    Margin result = search_->margin(range, trials);
    if (result.limit && set(*result.limit)) {
      result.conditional = is_conditional();
    }
    return result;
  }

  Margin wcet(std::size_t callback) {
    const auto stated = stated_.callbacks[callback].wcet;
    const Margin result = margin({0, stated.count(), kHour_ns}, [&](Ticks value) {
      tried_.callbacks[callback].wcet = ns(value);
      return true;
    });
    tried_.callbacks[callback].wcet = stated;
    return result;
  }

  Margin period(std::size_t callback) {
    auto& trigger = tried_.callbacks[callback].trigger;
    model::Nanoseconds* interval = nullptr;
    if (auto* timer = std::get_if<model::Timer>(&trigger)) {
      interval = &timer->period;
    } else if (auto* event = std::get_if<model::Event>(&trigger)) {
      if (event->period > model::Nanoseconds::zero()) {
        return period(*event);
      }
      interval = &event->min_interval;
    } else {
      return {};
    }
    const auto stated = *interval;
    const Margin result = margin({kHour_ns, stated.count(), 1}, [&](Ticks value) {
      *interval = ns(value);
      return true;
    });
    *interval = stated;
    return result;
  }

  /// The same for an event with a period, with its jitter as stated.
  Margin period(model::Event& event) {
    const model::Event stated = event;
    // An interval of the period less the jitter is not stated: it follows from them, and shrinks
    // with the period.
    const bool states_interval = stated.min_interval > stated.period - stated.jitter;
    const Margin result = margin({kHour_ns, stated.period.count(), 1}, [&](Ticks value) {
      event.period = ns(value);
      event.min_interval = event.period - event.jitter;
      if (states_interval) {
        event.min_interval =
            std::max(event.min_interval, std::min(stated.min_interval, event.period));
      }
      event.max_interval = event.period + event.jitter;
      return event.min_interval >= kLeastInterval;
    });
    event = stated;
    return result;
  }

  const model::Application& stated_;
  model::Application tried_;
  model::ExecutorChoice executor_;
  const Machine& machine_;
  const Overheads& overheads_;
  Effort effort_;
  std::optional<detail::DeadlineTrials> trials_;  // of `tried_`
  std::optional<detail::DeadlineTrials> fewer_;   // the same with fewer steps
  std::optional<detail::DeadlineTrials> more_;    // the same with more steps
  std::optional<detail::MarginSearch> search_;
};

/// The deadlines of a task set for values of one of its times.
class TaskTrials : public detail::TimeTrials {
 public:
  explicit TaskTrials(std::function<bool(Ticks)> holds) : holds_(std::move(holds)) {}

  std::optional<std::size_t> first_missed(Ticks value, detail::Look /*look*/) override {
    return holds_(value) ? std::nullopt : std::optional<std::size_t>(0);
  }

  Ticks room(Ticks value, std::size_t /*deadline*/, detail::Look /*look*/) override {
    return holds_(value) ? 0 : -detail::kHorizon;
  }

  bool has_quick_look() const override { return false; }

  bool proved(Ticks value) override { return holds_(value); }

  bool surely_holds(Ticks value) override { return holds_(value); }

  bool surely_misses(Ticks value) override { return !holds_(value); }

 private:
  std::function<bool(Ticks)> holds_;
};

}  // namespace

Sensitivity sensitivity(const model::Application& application,
                        const model::ExecutorChoice& executor, const Machine& machine,
                        Effort effort) {
  return OfApplication(application, executor, machine, effort).run();
}

Sensitivity sensitivity(std::span<const Task> tasks, Policy policy, Effort effort) {
  const std::vector<Task> stated(tasks.begin(), tasks.end());
  std::vector<Task> tried = stated;
  const auto holds = [&] {
    return analyse_tasks(tried, policy, effort).schedulable == Answer::kYes;
  };
  detail::MarginSearch search(holds());
  const auto margin = [&](const detail::TimeRange& range, const auto& set) {
    TaskTrials trials([&](Ticks value) {
      set(value);
      return holds();
    });
    return search.margin(range, trials);
  };
  Sensitivity result;
  result.factor = margin({0, kMillion, kMaxFactor}, [&](Ticks factor) {
    for (std::size_t i = 0; i < tried.size(); ++i) {
      tried[i].wcet = scaled(stated[i].wcet, factor);
    }
  });
  tried = stated;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    result.wcets.push_back(
        margin({0, stated[i].wcet, kMaxTicks / 1024}, [&](Ticks value) { tried[i].wcet = value; }));
    tried[i] = stated[i];
    result.periods.push_back(margin({kMaxTicks / 1024, stated[i].period, 1},
                                    [&](Ticks value) { tried[i].period = value; }));
    tried[i] = stated[i];
  }
  return result;
}

}  // namespace rclrt::analysis
