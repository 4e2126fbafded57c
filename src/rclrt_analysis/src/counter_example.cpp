// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/counter_example.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "first_misses.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis {
namespace {

using detail::FirstMisses;
using detail::Miss;
using model::Application;

/// The longest trial: times in a counter-example file are limited to an hour.
constexpr std::int64_t kLongestTrial_ns = std::int64_t{3000} * 1'000'000'000;
constexpr std::int64_t kLeastTrial_ns = 1'000'000;
/// The fewest releases of a callback that never runs. A trial lasts three hyperperiods, if it can.
constexpr std::uint64_t kReleasesToStarve = 3;

struct Trial {
  std::vector<std::int64_t> offsets_ns;
  int lowest_percent = 100;
  int lowest_delay_percent = 100;
  std::uint64_t seed = 0;
};

class Searcher {
 public:
  Searcher(const Application& application, const std::vector<bool>& wanted, const Search& search)
      : application_(application),
        search_(search),
        random_(search.effort.seed),
        left_(search.effort.instances),
        found_(application.chains.size()),
        closest_(application.chains.size()),
        best_(application.chains.size()) {
    for (std::size_t i = 0; i < application.chains.size(); ++i) {
      if (wanted.at(i)) {
        open_.push_back(i);
      }
    }
    priorities_ = application.effective_priorities();
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      const model::Callback& callback = application.callbacks[i];
      stated_.push_back(detail::stated_offset_ns(callback));
      if (callback.takes_messages()) {
        continue;
      }
      timers_.push_back(i);
      const auto* timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer == nullptr || !timer->offset_stated) {
        free_.push_back(i);  // an event may come at any time, wherever a run has its first release
      }
    }
    horizon_ns_ = horizon();
    const auto varies = [](const Hop& hop) { return hop.min < hop.max; };
    machine_ = search.overheads;
    machine_.background = machine_.stall = machine_.handover = 0;
    delays_vary_ = machine_.timer_jitter > 0 || varies(machine_.near) || varies(machine_.far);
    system_ = simulated_system(application, search.executor, times_of({}), search.cpus);
  }

  SearchResult run() {
    try_all_speeds(stated_);
    for (const std::size_t chain : std::vector(open_)) {
      try_all_speeds(just_after_the_others(chain));
    }
    while (!open_.empty() && left_ > 0) {
      const std::size_t chain = open_[random_.next() % open_.size()];
      attempt(next_trial(chain));
    }
    return {std::move(found_), std::move(closest_)};
  }

 private:
  /// Returns three hyperperiods and the time that bursts of events take, or less if that is too
  /// much work.
  std::int64_t horizon() {
    double per_ns = 0;
    for (const double rate : application_.rates()) {
      per_ns += rate / 1e9;
    }
    std::int64_t longest_ns = 0;
    for (const std::size_t timer : timers_) {
      longest_ns = std::max(longest_ns, period(timer));
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

  std::int64_t period(std::size_t timer) const {
    return model::period(application_.callbacks[timer]).count();
  }

  /// Returns offsets at which every other timer with a free offset releases one nanosecond before
  /// the chain's timer, so that a less urgent callback has just started.
  std::vector<std::int64_t> just_after_the_others(std::size_t chain) const {
    std::vector<std::int64_t> result = stated_;
    const std::size_t own = application_.chains[chain].callbacks.front();
    const bool movable = std::ranges::find(free_, own) != free_.end();
    if (movable) {
      result[own] = std::min<std::int64_t>(1, period(own) - 1);
    }
    for (const std::size_t timer : free_) {
      if (timer != own) {
        result[timer] = (result[own] + period(timer) - 1) % period(timer);
      }
    }
    return result;
  }

  void try_all_speeds(const std::vector<std::int64_t>& offsets_ns) {
    for (const int percent : {100, 50, 0}) {
      attempt({offsets_ns, percent, 100, percent < 100 ? random_.next() >> 32U : 0});
    }
    if (delays_vary_) {
      attempt({offsets_ns, 100, 0, random_.next() >> 32U});
    }
  }

  /// Returns a variation of the best trial of this chain so far, or a random one.
  Trial next_trial(std::size_t chain) {
    Trial trial = best_[chain];
    const bool anew = trial.offsets_ns.empty() || random_.uniform(0, 3) == 0;
    if (trial.offsets_ns.empty()) {
      trial.offsets_ns = stated_;
    }
    const auto all = static_cast<std::int64_t>(free_.size());
    for (const std::size_t timer : free_) {
      if (!anew && random_.uniform(0, all - 1) >= 2) {
        continue;
      }
      trial.offsets_ns[timer] = some_offset(timer);
    }
    const bool shorter = random_.uniform(0, 3) == 0;
    trial.lowest_percent = shorter ? static_cast<int>(random_.uniform(0, 9)) * 10 : 100;
    const bool sooner = delays_vary_ && random_.uniform(0, 1) == 0;
    trial.lowest_delay_percent = sooner ? static_cast<int>(random_.uniform(0, 9)) * 10 : 100;
    trial.seed = shorter || sooner ? random_.next() >> 32U : 0;
    return trial;
  }

  /// Returns a random offset. Round numbers make releases coincide, or just not.
  std::int64_t some_offset(std::size_t timer) {
    const std::int64_t period_ns = period(timer);
    switch (random_.uniform(0, 3)) {
      case 0:
        return random_.uniform(0, period_ns - 1);
      case 1:
        return std::min<std::int64_t>(random_.uniform(0, 1), period_ns - 1);
      default:
        return std::min(period_ns / 16 * random_.uniform(0, 15) + random_.uniform(0, 1),
                        period_ns - 1);
    }
  }

  /// Sets the system up as simulated_system() would with the trial's times.
  void set_up(const Trial& trial) {
    for (const std::size_t timer : timers_) {
      auto& trigger = system_.callbacks[timer].trigger;
      if (auto* event = std::get_if<EventTrigger>(&trigger)) {
        event->event = detail::densest(event->event, trial.offsets_ns[timer]);
      } else {
        std::get<TimerTrigger>(trigger).offset_ns = trial.offsets_ns[timer];
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
                           .cpus = search_.cpus,
                           .overheads = machine_,
                           .lowest_delay_percent = trial.lowest_delay_percent};
    set_up(trial);
    FirstMisses misses(system_);
    const auto result = simulate(system_,
                                 {.horizon_ns = horizon_ns_,
                                  .seed = trial.seed,
                                  .max_instances = std::min(left_, 2 * search_.effort.per_trial),
                                  .check_interrupt = search_.effort.check_interrupt},
                                 &misses);
    // A trial in which no instance ends costs effort, too.
    left_ -= std::min(left_, result.instances + 1 + application_.callbacks.size() / 8);
    std::erase_if(open_, [&](std::size_t chain) {
      if (misses.closest(chain) > closest_[chain]) {
        closest_[chain] = misses.closest(chain);
        best_[chain] = trial;
      }
      const bool complete = result.end_ns == horizon_ns_;
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
    });
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
    return since_first_ns < 0 ? 0 : static_cast<std::uint64_t>(since_first_ns / period(source)) + 1;
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
  SimulationRandom random_;
  std::uint64_t left_;  // instances of the effort that remain
  std::vector<std::optional<CounterExample>> found_;
  std::vector<double> closest_;  // by chain: the worst response in proportion to the deadline
  std::vector<Trial> best_;      // the trial with that response
  std::vector<std::size_t> open_;
  std::vector<std::int64_t> stated_;
  std::vector<std::size_t> timers_;
  std::vector<std::size_t> free_;  // timers with offsets that the search may choose
  std::vector<int> priorities_;
  std::int64_t horizon_ns_ = 0;
  bool shows_starvation_ = true;  // trials last longer than any backlog of bursts
  Overheads machine_;
  bool delays_vary_ = false;
  Trial last_;
  SimulatedSystem system_;  // of the last trial
};

}  // namespace

SearchResult search_schedules(const Application& application, const std::vector<bool>& wanted,
                              const Search& search) {
  if (wanted.size() != application.chains.size()) {
    throw std::invalid_argument("expected one flag per chain");
  }
  return Searcher(application, wanted, search).run();
}

std::vector<std::optional<CounterExample>> find_counter_examples(const Application& application,
                                                                 const std::vector<bool>& wanted,
                                                                 const Search& search) {
  return search_schedules(application, wanted, search).examples;
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
