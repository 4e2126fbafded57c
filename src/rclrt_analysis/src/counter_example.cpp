// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/counter_example.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "first_misses.hpp"
#include "output_times.hpp"
#include "search_trials.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis {
namespace {

using detail::FirstMisses;
using detail::Miss;
using detail::OutputTime;
using detail::Trial;
using model::Application;

/// The longest trial: times in a counter-example file are limited to an hour.
constexpr std::int64_t kLongestTrial_ns = std::int64_t{3000} * 1'000'000'000;
constexpr std::int64_t kLeastTrial_ns = 1'000'000;
/// The fewest releases of a callback that never runs. A trial lasts three hyperperiods, if it can.
constexpr std::uint64_t kReleasesToStarve = 3;

/// Observes one simulation of the search.
class Observed final : public SimulationObserver {
 public:
  /// Leaves out cause-effect chains if `samples` is false: they take more time.
  Observed(const Application& application, const SimulatedSystem& system, bool samples)
      : misses_(system) {
    if (samples) {
      outputs_.emplace(application);
    }
  }

  void ended(const SimulatedInstance& instance) override {
    misses_.ended(instance);
    if (outputs_) {
      outputs_->ended(instance);
    }
  }
  void ran(const SimulatedInterval& interval) override { misses_.ran(interval); }

  const FirstMisses& misses() const { return misses_; }
  std::uint64_t recorded() const { return outputs_ ? outputs_->recorded() : 0; }
  /// Returns the times of each cause-effect chain, or none if these are left out.
  std::vector<detail::OutputTimes> output_times(std::int64_t end_ns) const {
    return outputs_ ? outputs_->times(end_ns) : std::vector<detail::OutputTimes>();
  }

 private:
  FirstMisses misses_;
  std::optional<detail::Outputs> outputs_;
};

/// A target of the search is a chain, or a cause-effect chain, of which the indices follow those of
/// the chains.
class Searcher {
 public:
  Searcher(const Application& application, const Wanted& wanted, const Search& search)
      : application_(application),
        search_(search),
        left_(search.effort.instances),
        found_(application.chains.size() + application.cause_effect_chains.size()),
        closest_(found_.size()),
        best_(found_.size()),
        worst_reaction_ns_(application.cause_effect_chains.size()),
        worst_age_ns_(application.cause_effect_chains.size()),
        delays_vary_(vary(search.overheads)),
        trials_(application, search.effort.seed, delays_vary_) {
    std::vector<bool> targets = wanted.chains;
    targets.insert(targets.end(), wanted.cause_effect_chains.begin(),
                   wanted.cause_effect_chains.end());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i]) {
        open_.push_back(i);
      }
    }
    priorities_ = application.effective_priorities();
    horizon_ns_ = horizon();
    machine_ = search.overheads;
    machine_.background = machine_.stall = machine_.handover = machine_.cpus = 0;
    system_ = simulated_system(application, search.executor, times_of({}), search.cpus_of_others());
  }

  SearchResult run() {
    try_all_speeds(trials_.stated_offsets_ns());
    for (const std::size_t target : std::vector(open_)) {
      if (is_cause_effect(target)) {
        const model::CauseEffectChain& chain = cause_effect(target);
        try_all_speeds(trials_.just_after_the_others(chain.callbacks.front()));
        try_all_speeds(trials_.just_before_each_value(chain));
      } else {
        const model::Chain& chain = application_.chains[target];
        try_all_speeds(trials_.just_after_the_others(chain.callbacks.front()));
      }
    }
    while (!open_.empty() && left_ > 0) {
      const std::size_t target = open_[trials_.below(open_.size())];
      attempt(trials_.variation(best_[target]));
    }
    const auto chains = static_cast<std::ptrdiff_t>(application_.chains.size());
    SearchResult result{.examples = {found_.begin(), found_.begin() + chains},
                        .closest = {closest_.begin(), closest_.begin() + chains},
                        .cause_effect_examples = {found_.begin() + chains, found_.end()},
                        .worst_reaction_ns = std::move(worst_reaction_ns_),
                        .worst_age_ns = std::move(worst_age_ns_)};
    return result;
  }

 private:
  static bool vary(const Overheads& machine) {
    const auto varies = [](const Hop& hop) { return hop.min < hop.max; };
    return machine.timer_jitter > 0 || varies(machine.near) || varies(machine.far);
  }

  bool is_cause_effect(std::size_t target) const { return target >= application_.chains.size(); }

  const model::CauseEffectChain& cause_effect(std::size_t target) const {
    return application_.cause_effect_chains[target - application_.chains.size()];
  }

  /// Returns three hyperperiods and the time that bursts of events take, or less if that is too
  /// much work.
  std::int64_t horizon() {
    double per_ns = 0;
    for (const double rate : application_.rates()) {
      per_ns += rate / 1e9;
    }
    std::int64_t longest_ns = 0;
    for (const std::size_t source : trials_.sources()) {
      longest_ns = std::max(longest_ns, trials_.period_ns(source));
    }
    const auto affordable = per_ns > 0
                                ? std::min(static_cast<double>(search_.effort.per_trial) / per_ns,
                                           static_cast<double>(kLongestTrial_ns))
                                : 0.0;
    std::int64_t result = static_cast<std::int64_t>(affordable);
    // At a load of 1 or more, a backlog may need long to become a miss; below 1 everything repeats
    // once the bursts are done.
    if (application_.utilisation() < 1.0) {
      const std::int64_t hyperperiod_ns =
          std::min(application_.hyperperiod().count(), kLongestTrial_ns);
      const double needed =
          3.0 * static_cast<double>(hyperperiod_ns) + static_cast<double>(longest_ns) + bursts_ns();
      shows_starvation_ = needed <= affordable;
      result = static_cast<std::int64_t>(std::min(needed, affordable));
    }
    return std::max(result, kLeastTrial_ns);
  }

  /// Returns how long one CPU may need for the bursts of all events, besides the other work.
  double bursts_ns() const {
    double releases = 0;
    double longest_jitter = 0;
    double work = 0;
    for (const model::Callback& callback : application_.callbacks) {
      work += static_cast<double>(callback.wcet.count());
      const auto* const event = std::get_if<model::Event>(&callback.trigger);
      if (event != nullptr && event->period.count() > 0 && event->jitter >= event->period) {
        releases += static_cast<double>(event->jitter / event->period);
        longest_jitter = std::max(longest_jitter, static_cast<double>(event->jitter.count()));
      }
    }
    return releases * work / (1 - application_.utilisation()) + longest_jitter;
  }

  void try_all_speeds(const std::vector<std::int64_t>& offsets_ns) {
    for (const int percent : {100, 50, 0}) {
      attempt(trials_.with(offsets_ns, percent, 100));
    }
    if (delays_vary_) {
      attempt(trials_.with(offsets_ns, 100, 0));
    }
  }

  /// Sets the system up as simulated_system() would with the trial's times.
  void set_up(const Trial& trial) {
    for (const std::size_t source : trials_.sources()) {
      auto& trigger = system_.callbacks[source].trigger;
      if (auto* event = std::get_if<EventTrigger>(&trigger)) {
        event->event = detail::densest(event->event, trial.offsets_ns[source]);
      } else {
        std::get<TimerTrigger>(trigger).offset_ns = trial.offsets_ns[source];
      }
    }
    if (trial.lowest_delay_percent != last_.lowest_delay_percent) {
      detail::set_delays(system_, times_of(trial));
    }
    if (trial.lowest_percent != last_.lowest_percent) {
      for (std::size_t i = 0; i < system_.callbacks.size(); ++i) {
        system_.callbacks[i].execution =
            detail::execution_times(application_.callbacks[i], trial.lowest_percent / 100.0);
      }
    }
    last_ = trial;
  }

  SimulatedTimes times_of(const Trial& trial) const {
    return counter_example_times({.lowest_execution_percent = trial.lowest_percent,
                                  .overheads = machine_,
                                  .lowest_delay_percent = trial.lowest_delay_percent});
  }

  void attempt(const Trial& trial) {
    if (open_.empty() || left_ == 0) {
      return;
    }
    CounterExample example{.executor = search_.executor,
                           .offsets_ns = trial.offsets_ns,
                           .priorities = priorities_,
                           .seed = trial.seed,
                           .lowest_execution_percent = trial.lowest_percent,
                           .cpus = search_.cpus_of_others(),
                           .overheads = machine_,
                           .lowest_delay_percent = trial.lowest_delay_percent};
    set_up(trial);
    const bool samples =
        std::ranges::any_of(open_, [&](std::size_t target) { return is_cause_effect(target); });
    Observed observed(application_, system_, samples);
    const auto result = simulate(system_,
                                 {.horizon_ns = horizon_ns_,
                                  .seed = trial.seed,
                                  .max_instances = std::min(left_, 2 * search_.effort.per_trial),
                                  .check_interrupt = search_.effort.check_interrupt},
                                 &observed);
    // A trial in which no instance ends costs effort, too.
    left_ -= std::min(
        left_, result.instances + 1 + application_.callbacks.size() / 8 + observed.recorded() / 4);
    const bool complete = result.end_ns == horizon_ns_;
    const auto outputs = observed.output_times(result.end_ns);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      keep_longest(outputs[i].worst_reaction, worst_reaction_ns_[i]);
      keep_longest(outputs[i].worst_age, worst_age_ns_[i]);
    }
    std::erase_if(open_, [&](std::size_t target) {
      return is_cause_effect(target)
                 ? exceeds(target, trial, outputs[target - application_.chains.size()], example)
                 : misses(target, trial, observed.misses(), complete, example);
    });
  }

  static void keep_longest(const std::optional<OutputTime>& time, std::int64_t& longest_ns) {
    if (time) {
      longest_ns = std::max(longest_ns, time->length_ns());
    }
  }

  /// Keeps the trial if it is the closest one.
  void approach(std::size_t target, const Trial& trial, double closest) {
    if (closest > closest_[target]) {
      closest_[target] = closest;
      best_[target] = trial;
    }
  }

  /// Returns whether the cause-effect chain exceeds one of its limits, and keeps the example.
  bool exceeds(std::size_t target, const Trial& trial, const detail::OutputTimes& times,
               CounterExample example) {
    const model::CauseEffectChain& chain = cause_effect(target);
    const auto part = [](const std::optional<OutputTime>& time, const auto& limit) {
      return time && limit
                 ? static_cast<double>(time->length_ns()) / static_cast<double>(limit->count())
                 : 0.0;
    };
    approach(target, trial,
             std::max(part(times.worst_reaction, chain.max_reaction),
                      part(times.worst_age, chain.max_age)));
    if (!times.first_miss) {
      return false;
    }
    const OutputTime& miss = *times.first_miss;
    example.limit = miss.limit;
    example.chain = target - application_.chains.size();
    example.instance = miss.instance;
    example.release_ns = miss.from_ns;
    example.response_ns = miss.length_ns();
    example.horizon_ns = miss.never_comes ? miss.end_ns : miss.end_ns + 1;
    found_[target] = example;
    return true;
  }

  /// Returns whether an instance of the chain misses its deadline, and keeps the example.
  bool misses(std::size_t chain, const Trial& trial, const FirstMisses& misses, bool complete,
              CounterExample example) {
    approach(chain, trial, misses.closest(chain));
    const auto never_runs =
        complete && shows_starvation_ ? starving(chain, trial, misses) : std::nullopt;
    const auto miss = never_runs ? waiting(chain, trial) : misses.miss(chain);
    if (!miss) {
      return false;
    }
    example.chain = chain;
    example.instance = miss->instance;
    example.release_ns = miss->release_ns;
    example.response_ns = miss->end_ns - miss->release_ns;
    example.horizon_ns = never_runs ? miss->end_ns : miss->end_ns + 1;
    example.never_runs = never_runs;
    if (never_runs) {
      closest_[chain] = static_cast<double>(example.response_ns) /
                        static_cast<double>(application_.chains[chain].deadline.count());
    }
    found_[chain] = example;
    return true;
  }

  /// Returns the first callback of the chain that did not run, if it was released at least three
  /// times up to the horizon; otherwise nullopt.
  std::optional<std::size_t> starving(std::size_t chain, const Trial& trial,
                                      const FirstMisses& misses) const {
    const auto& callbacks = application_.chains[chain].callbacks;
    for (std::size_t place = 0; place < callbacks.size(); ++place) {
      if (!misses.has_run(callbacks[place])) {
        const std::uint64_t releases =
            place == 0 ? releases_of(callbacks[0], trial) : misses.passed(chain, place - 1);
        return releases >= kReleasesToStarve ? std::optional(callbacks[place]) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Returns the number of releases of a timer or event before the horizon.
  std::uint64_t releases_of(std::size_t source, const Trial& trial) const {
    const std::int64_t since_first_ns = horizon_ns_ - 1 - trial.offsets_ns[source];
    return since_first_ns < 0
               ? 0
               : static_cast<std::uint64_t>(since_first_ns / trials_.period_ns(source)) + 1;
  }

  /// Returns the chain's first instance as one that waits until the horizon, or nullopt if that is
  /// no later than its deadline.
  std::optional<Miss> waiting(std::size_t chain, const Trial& trial) const {
    const model::Chain& own = application_.chains[chain];
    const std::int64_t release_ns = trial.offsets_ns[own.callbacks.front()];
    if (horizon_ns_ - release_ns <= own.deadline.count()) {
      return std::nullopt;
    }
    return Miss{0, release_ns, horizon_ns_};
  }

  const Application& application_;
  const Search& search_;
  std::uint64_t left_;                                // instances of the effort that remain
  std::vector<std::optional<CounterExample>> found_;  // by target
  std::vector<double> closest_;  // by target: the worst response in proportion to the limit
  std::vector<Trial> best_;      // the trial with that response
  std::vector<std::int64_t> worst_reaction_ns_;  // by cause-effect chain
  std::vector<std::int64_t> worst_age_ns_;
  std::vector<std::size_t> open_;  // targets
  bool delays_vary_;
  detail::Trials trials_;
  std::vector<int> priorities_;
  std::int64_t horizon_ns_ = 0;
  bool shows_starvation_ = true;  // trials last longer than any backlog of bursts
  Overheads machine_;
  Trial last_;
  SimulatedSystem system_;  // of the last trial
};

}  // namespace

SearchResult search_schedules(const Application& application, const Wanted& wanted,
                              const Search& search) {
  const std::size_t sampled = wanted.cause_effect_chains.size();
  if (wanted.chains.size() != application.chains.size() ||
      (sampled != 0 && sampled != application.cause_effect_chains.size())) {
    throw std::invalid_argument("expected one flag per chain");
  }
  return Searcher(application, wanted, search).run();
}

std::vector<std::optional<CounterExample>> find_counter_examples(const Application& application,
                                                                 const std::vector<bool>& wanted,
                                                                 const Search& search) {
  return search_schedules(application, {.chains = wanted}, search).examples;
}

std::int64_t detail::stated_offset_ns(const model::Callback& callback) {
  if (const auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
    return timer->offset.count();
  }
  const auto* event = std::get_if<model::Event>(&callback.trigger);
  return event != nullptr ? event->offset.value_or(model::Nanoseconds{0}).count() : 0;
}

model::Event detail::densest(model::Event event, std::int64_t offset_ns) {
  if (event.period > model::Nanoseconds::zero()) {
    event.seed = model::Event::kDensest;
  } else {
    event.max_interval = event.min_interval;
  }
  event.offset = model::Nanoseconds(offset_ns);
  return event;
}

}  // namespace rclrt::analysis
