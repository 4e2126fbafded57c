// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/counter_example.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "later_begins.hpp"
#include "search_lengths.hpp"
#include "search_observer.hpp"
#include "search_trials.hpp"
#include "simulation/simulated_times.hpp"
#include "trial_system.hpp"

namespace rclrt::analysis {
namespace {

using detail::FirstMisses;
using detail::Meeting;
using detail::Miss;
using detail::OutputTime;
using detail::Trial;
using model::Application;

/// The fewest releases of a callback that never runs. A trial lasts three hyperperiods, if it can.
constexpr std::uint64_t kReleasesToStarve = 3;

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
        system_(application, search),
        lengths_(application, search.effort, found_.size(), may_starve(search.executor),
                 search.cpus_of_others()) {
    std::vector<bool> targets = wanted.chains;
    targets.insert(targets.end(), wanted.cause_effect_chains.begin(),
                   wanted.cause_effect_chains.end());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i]) {
        open_.push_back(i);
      }
    }
    priorities_ = application.effective_priorities();
    trials_.emplace(application, search.effort.seed, system_.delays_vary(), begins(wanted));
  }

  SearchResult run() {
    attempt(trials_->with(trials_->stated_offsets_ns(), 100, 100), lengths_.full_ns());
    try_all_speeds(trials_->stated_offsets_ns());
    for (const std::size_t target : std::vector(open_)) {
      try_meetings(target);
      if (!trials_->begin_later() || !trials_->are_all_stated()) {
        try_offsets(target);
      }
    }
    while (!open_.empty() && left_ > 0) {
      const std::size_t target = open_[trials_->below(open_.size())];
      const std::size_t own = source_of(target);
      const Best& best = best_[target];
      if (trials_->begin_later() && trials_->below(4) == 0) {
        attempt(trials_->meeting(own, Meeting::kSome, time_of(target)));
      } else if (lengths_.has_parts() && !best.trial.offsets_ns.empty() && trials_->below(8) != 0) {
        attempt(trials_->part(best.trial, own, best.release_ns, best.end_ns));
      } else {
        attempt(trials_->variation(best.trial), lengths_.long_ns());
      }
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
  /// A trial, and the release and the end of its longest time.
  struct Best {
    Trial trial;
    std::int64_t release_ns = 0;
    std::int64_t end_ns = 0;
  };

  /// Returns whether callbacks may never run below a load of 1: they wait for other threads, or for
  /// a trigger.
  static bool may_starve(const model::ExecutorChoice& executor) {
    return executor.threads > 1 || executor.trigger != model::SetTrigger::kAny;
  }

  /// Returns when trials may begin.
  detail::LaterBegins begins(const Wanted& wanted) const {
    if (!lengths_.has_parts()) {
      return {};
    }
    auto result = system_.begins(lengths_.long_ns() / 4);
    // The values of variables before a warm-up are not known.
    const bool samples =
        std::ranges::find(wanted.cause_effect_chains, true) != wanted.cause_effect_chains.end();
    result.possible = result.possible && (!samples || result.warm_up_ns == 0);
    return result;
  }

  bool is_cause_effect(std::size_t target) const { return target >= application_.chains.size(); }

  const model::CauseEffectChain& cause_effect(std::size_t target) const {
    return application_.cause_effect_chains[target - application_.chains.size()];
  }

  /// Tries offsets that are bad for one target.
  void try_offsets(std::size_t target) {
    try_all_speeds(trials_->just_after_the_others(source_of(target)));
    if (is_cause_effect(target)) {
      try_all_speeds(trials_->just_before_each_value(cause_effect(target)));
    } else {
      attempt(trials_->with(trials_->long_before_the_others(source_of(target)), 100, 100),
              lengths_.long_ns());
    }
  }

  /// Tries later times at which releases meet one of the target.
  void try_meetings(std::size_t target) {
    if (!trials_->begin_later()) {
      return;
    }
    for (const Meeting how : {Meeting::kJustBefore, Meeting::kTogether}) {
      detail::Part part = trials_->meeting(source_of(target), how, time_of(target));
      for (const int percent : {100, 50, 0}) {
        part.trial = trials_->at_speed(part.trial, percent);
        attempt(part);
      }
    }
  }

  void try_all_speeds(const std::vector<std::int64_t>& offsets_ns) {
    for (const int percent : {100, 50, 0}) {
      attempt(trials_->with(offsets_ns, percent, 100), lengths_.long_ns());
    }
    if (system_.delays_vary()) {
      attempt(trials_->with(offsets_ns, 100, 0), lengths_.long_ns());
    }
  }

  /// Returns a time within which a response of the target ends that does not exceed a limit.
  std::int64_t time_of(std::size_t target) const {
    if (!is_cause_effect(target)) {
      return application_.chains[target].deadline.count();
    }
    const model::CauseEffectChain& chain = cause_effect(target);
    return std::max(chain.max_reaction.value_or(model::Nanoseconds{0}),
                    chain.max_age.value_or(model::Nanoseconds{0}))
        .count();
  }

  /// Returns the timer or event of the first instance of a target.
  std::size_t source_of(std::size_t target) const {
    return is_cause_effect(target) ? cause_effect(target).callbacks.front()
                                   : application_.chains[target].callbacks.front();
  }

  void attempt(const detail::Part& part) {
    attempt(part.trial, std::min(part.length_ns, lengths_.full_ns()));
  }

  void attempt(const Trial& trial, std::int64_t length_ns) {
    if (open_.empty() || left_ == 0) {
      return;
    }
    CounterExample example{.executor = search_.executor,
                           .offsets_ns = trial.offsets_ns,
                           .priorities = priorities_,
                           .seed = trial.seed,
                           .lowest_execution_percent = trial.lowest_percent,
                           .extremes = trial.extremes,
                           .cpus = search_.cpus_of_others(),
                           .overheads = system_.machine(),
                           .lowest_delay_percent = trial.lowest_delay_percent,
                           .begin_ns = trial.begin_ns,
                           .warm_up_ns = trial.warm_up_ns};
    const SimulatedSystem& system = system_.set_up(trial);
    const bool samples =
        std::ranges::any_of(open_, [&](std::size_t target) { return is_cause_effect(target); });
    detail::Observed observed(application_, system, samples, trial.warm_up_ns);
    const auto result = simulate(system,
                                 {.horizon_ns = length_ns,
                                  .warm_up_ns = trial.warm_up_ns,
                                  .seed = trial.seed,
                                  .max_instances = std::min(left_, 2 * search_.effort.per_trial),
                                  .check_interrupt = search_.effort.check_interrupt},
                                 &observed);
    // A trial in which no instance ends costs effort, too.
    left_ -= std::min(
        left_, result.instances + 1 + application_.callbacks.size() / 8 + observed.recorded() / 4);
    const bool complete =
        result.end_ns == length_ns && length_ns == lengths_.full_ns() && trial.begin_ns == 0;
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

  /// Keeps the trial if it is the closest one. `release_ns`, `end_ns`: of its longest time.
  void approach(std::size_t target, const Trial& trial, double closest, std::int64_t release_ns,
                std::int64_t end_ns) {
    if (closest > closest_[target]) {
      closest_[target] = closest;
      best_[target] = {trial, release_ns, end_ns};
    }
  }

  /// Returns whether the cause-effect chain exceeds one of its limits, and keeps the example.
  bool exceeds(std::size_t target, const Trial& trial, const detail::OutputTimes& times,
               CounterExample example) {
    const model::CauseEffectChain& chain = cause_effect(target);
    const auto approach_limit = [&](const std::optional<OutputTime>& time, const auto& limit) {
      if (time && limit) {
        approach(target, trial,
                 static_cast<double>(time->length_ns()) / static_cast<double>(limit->count()),
                 time->from_ns, time->end_ns);
      }
    };
    approach_limit(times.worst_reaction, chain.max_reaction);
    approach_limit(times.worst_age, chain.max_age);
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
    const Miss& longest = misses.longest(chain);
    approach(chain, trial, misses.closest(chain), longest.release_ns, longest.end_ns);
    const auto never_runs =
        complete && lengths_.shows_starvation() ? starving(chain, trial, misses) : std::nullopt;
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

  /// Returns the number of releases of a timer or event before the horizon; 0: it is not known, as
  /// for events at extremes.
  std::uint64_t releases_of(std::size_t source, const Trial& trial) const {
    if (varies(source, trial)) {
      return 0;
    }
    const std::int64_t since_first_ns = lengths_.full_ns() - 1 - trial.offsets_ns[source];
    return since_first_ns < 0
               ? 0
               : static_cast<std::uint64_t>(since_first_ns / trials_->period_ns(source)) + 1;
  }

  /// Returns whether the trial draws the releases of a source.
  bool varies(std::size_t source, const Trial& trial) const {
    return trial.extremes && application_.callbacks[source].kind() == model::CallbackKind::kEvent;
  }

  /// Returns the chain's first instance as one that waits until the horizon, or nullopt if that is
  /// no later than its deadline.
  std::optional<Miss> waiting(std::size_t chain, const Trial& trial) const {
    const model::Chain& own = application_.chains[chain];
    const std::int64_t release_ns = trial.offsets_ns[own.callbacks.front()];
    if (varies(own.callbacks.front(), trial)) {
      return std::nullopt;  // its first release may be later
    }
    if (lengths_.full_ns() - release_ns <= own.deadline.count()) {
      return std::nullopt;
    }
    return Miss{0, release_ns, lengths_.full_ns()};
  }

  const Application& application_;
  const Search& search_;
  std::uint64_t left_;                                // instances of the effort that remain
  std::vector<std::optional<CounterExample>> found_;  // by target
  std::vector<double> closest_;  // by target: the worst response in proportion to the limit
  std::vector<Best> best_;       // the trial with that response
  std::vector<std::int64_t> worst_reaction_ns_;  // by cause-effect chain
  std::vector<std::int64_t> worst_age_ns_;
  std::vector<std::size_t> open_;  // targets
  detail::TrialSystem system_;
  std::optional<detail::Trials> trials_;
  detail::TrialLengths lengths_;
  std::vector<int> priorities_;
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

}  // namespace rclrt::analysis
