// SPDX-License-Identifier: Apache-2.0
#include "search_trials.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "rclrt/model/event_times.hpp"
#include "release_times.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr std::int64_t kNever_ns = std::numeric_limits<std::int64_t>::max();

/// Returns the least common multiple, or kNever_ns if it is no time of a simulation.
std::int64_t common_multiple(std::int64_t one_ns, std::int64_t other_ns) {
  const std::int64_t rest_ns = other_ns / std::gcd(one_ns, other_ns);
  return one_ns > kNever_ns / rest_ns ? kNever_ns : one_ns * rest_ns;
}

}  // namespace

bool has_bunches(const model::Callback& callback) {
  const auto* const event = std::get_if<model::Event>(&callback.trigger);
  return event != nullptr && event->jitter > model::Nanoseconds::zero();
}

Trials::Trials(const model::Application& application, std::uint64_t seed, bool delays_vary,
               const LaterBegins& begins)
    : application_(application), random_(seed), delays_vary_(delays_vary), begins_(begins) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    stated_.push_back(stated_offset_ns(callback));
    has_waits_ = has_waits_ || callback.waits.count() > 0;
    if (callback.takes_messages()) {
      continue;
    }
    sources_.push_back(i);
    const auto* timer = std::get_if<model::Timer>(&callback.trigger);
    if (timer == nullptr || !timer->offset_stated) {
      free_.push_back(i);  // an event may come at any time, wherever a run has its first release
    } else {
      fixed_.push_back(i);
      grid_ns_ = common_multiple(grid_ns_, period_ns(i));
    }
    longest_ns_ = std::max(longest_ns_, period_ns(i));
    has_events_ = has_events_ || timer == nullptr;
  }
  if (begins_.possible) {
    grid_ns_ = 1;
  }
}

bool Trials::is_free(std::size_t source) const {
  return std::ranges::find(free_, source) != free_.end();
}

std::vector<std::int64_t> Trials::just_after_the_others(std::size_t own) const {
  std::vector<std::int64_t> result = stated_;
  if (is_free(own)) {
    result[own] = std::min<std::int64_t>(1, period_ns(own) - 1);
  }
  for (const std::size_t source : free_) {
    if (source != own) {
      const bool bunch = has_bunches(application_.callbacks[source]) && result[own] > 0;
      result[source] =
          bunch ? result[own] - 1 : (result[own] + period_ns(source) - 1) % period_ns(source);
    }
  }
  return result;
}

std::vector<std::int64_t> Trials::long_before_the_others(std::size_t own) const {
  std::vector<std::int64_t> result = stated_;
  for (const std::size_t source : free_) {
    result[source] = source == own ? 0 : period_ns(source) - 1;
  }
  return result;
}

std::vector<std::int64_t> Trials::just_before_each_value(
    const model::CauseEffectChain& chain) const {
  std::vector<std::int64_t> result = stated_;
  std::optional<std::int64_t> stored_ns;
  for (const model::Segment& segment : chain.segments) {
    const model::Chain& path = application_.chains[segment.chain];
    const std::size_t source = path.callbacks.front();
    if (stored_ns && is_free(source)) {
      result[source] = (*stored_ns + period_ns(source) - 1) % period_ns(source);
    }
    stored_ns = result[source] + (path.logical_execution ? path.deadline.count() : 0);
    for (const std::size_t callback : path.callbacks) {
      const model::Callback& own = application_.callbacks[callback];
      *stored_ns += path.logical_execution ? 0 : (own.wcet + own.waits).count();
    }
  }
  return result;
}

Trial Trials::variation(Trial trial) {
  const bool anew = trial.offsets_ns.empty() || random_.uniform(0, 3) == 0;
  if (trial.offsets_ns.empty()) {
    trial.offsets_ns = stated_;
  }
  const auto all = static_cast<std::int64_t>(free_.size());
  for (const std::size_t source : free_) {
    if (!anew && random_.uniform(0, all - 1) >= 2) {
      continue;
    }
    trial.offsets_ns[source] = some_offset(source);
  }
  draw_times(trial);
  return trial;
}

/// Draws the execution times, the delays and the intervals of events.
void Trials::draw_times(Trial& trial) {
  const bool shorter = random_.uniform(0, 3) == 0;
  trial.lowest_percent = shorter ? static_cast<int>(random_.uniform(0, 9)) * 10 : 100;
  const bool sooner = delays_vary_ && random_.uniform(0, 1) == 0;
  trial.lowest_delay_percent = sooner ? static_cast<int>(random_.uniform(0, 9)) * 10 : 100;
  trial.extremes = (shorter || has_events_ || has_waits_) && random_.uniform(0, 1) == 0;
  const bool draws = shorter || sooner || trial.extremes || has_waits_;  // where a callback waits
  trial.seed = draws ? random_.next() >> 32U : 0;
}

Part Trials::part(Trial trial, std::size_t own, std::int64_t release_ns, std::int64_t end_ns) {
  if (begins_.possible) {
    return later_part(std::move(trial), own, release_ns, end_ns);
  }
  const std::int64_t begin_ns = some_begin(trial, own, release_ns, end_ns);
  return changed(std::move(trial), -begin_ns, release_ns, end_ns);
}

/// Returns the part of a trial that has an instance with this release and end, after some changes.
/// All releases without stated offsets, the instance's too, are `later_ns` later than in `trial`.
Part Trials::changed(Trial trial, std::int64_t later_ns, std::int64_t release_ns,
                     std::int64_t end_ns) {
  for (const std::size_t source : free_) {
    std::int64_t& offset_ns = trial.offsets_ns[source];
    offset_ns += later_ns;
    if (offset_ns < 0) {
      offset_ns = phase_of(offset_ns, period_ns(source));
    }
  }
  release_ns += later_ns;
  end_ns += later_ns;
  if (below(8) == 0) {
    for (const std::size_t source : free_) {
      if (has_bunches(application_.callbacks[source])) {
        trial.offsets_ns[source] = bunch_near(source, release_ns - 1);
      }
    }
  }
  for (std::size_t left = free_.empty() ? 0 : below(3); left > 0; --left) {
    const std::size_t source = free_[below(free_.size())];
    trial.offsets_ns[source] = offset_near(source, trial.offsets_ns[source], release_ns);
  }
  if (below(2) == 0) {
    draw_times(trial);
  }
  const std::int64_t more_ns = below(2) == 0 ? longest_ns_ : 0;
  return {std::move(trial), end_ns + 2 * (end_ns - release_ns) + more_ns + 1};
}

/// Returns when a part begins that has an instance with this release and end. Draws repeat only
/// from the begin of a schedule.
std::int64_t Trials::some_begin(const Trial& trial, std::size_t own, std::int64_t release_ns,
                                std::int64_t end_ns) {
  if (trial.seed != 0 && below(2) == 0) {
    return 0;
  }
  const std::array units_ns{longest_ns_, period_ns(own), end_ns - release_ns};
  const std::int64_t unit_ns = units_ns[below(units_ns.size())];
  const std::int64_t before_ns = std::min(unit_ns, kNever_ns / 8) * (std::int64_t{1} << below(4));
  return std::max<std::int64_t>(0, release_ns - before_ns) / grid_ns_ * grid_ns_;
}

/// Returns an offset of an event at which one of the releases of its bunch is at this time.
std::int64_t Trials::bunch_near(std::size_t source, std::int64_t time_ns) {
  const auto& event = std::get<model::Event>(application_.callbacks[source].trigger);
  const auto others = static_cast<std::size_t>(event.jitter / event.period) + 1;
  const auto before = static_cast<std::int64_t>(below(others + 1));
  return std::max<std::int64_t>(0, time_ns - (before * event.min_interval.count()));
}

/// Returns another offset of a source, which has the offset `now_ns`.
std::int64_t Trials::offset_near(std::size_t source, std::int64_t now_ns, std::int64_t release_ns) {
  const std::int64_t period = period_ns(source);
  const std::int64_t step = random_.uniform(-1, 1);
  if (has_bunches(application_.callbacks[source]) && below(2) == 0) {
    return bunch_near(source, release_ns + step);
  }
  switch (random_.uniform(0, 3)) {
    case 0:
      return some_offset(source);
    case 1:
      return phase_of(now_ns + random_.uniform(-period / 8, period / 8), period);
    case 2: {
      const model::Callback& some = application_.callbacks[below(application_.callbacks.size())];
      const std::int64_t work = (some.wcet + some.waits).count() * random_.uniform(-1, 1);
      return phase_of(release_ns + work + step, period);
    }
    default:
      return phase_of(release_ns + step, period);
  }
}

Trial Trials::with(std::vector<std::int64_t> offsets_ns, int lowest_percent,
                   int lowest_delay_percent) {
  const bool varies = lowest_percent < 100 || lowest_delay_percent < 100;
  return {std::move(offsets_ns), lowest_percent, lowest_delay_percent,
          varies ? random_.next() >> 32U : 0};
}

Trial Trials::at_speed(Trial trial, int lowest_percent) {
  trial.lowest_percent = lowest_percent;
  trial.seed = lowest_percent < 100 ? random_.next() >> 32U : 0;
  return trial;
}

/// Returns a random offset. Round numbers make releases coincide, or just not.
std::int64_t Trials::some_offset(std::size_t source) {
  const std::int64_t period = period_ns(source);
  switch (random_.uniform(0, 3)) {
    case 0:
      return random_.uniform(0, period - 1);
    case 1:
      return std::min<std::int64_t>(random_.uniform(0, 1), period - 1);
    default:
      return std::min(period / 16 * random_.uniform(0, 15) + random_.uniform(0, 1), period - 1);
  }
}

std::int64_t stated_offset_ns(const model::Callback& callback) {
  if (const auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
    return timer->offset.count();
  }
  const auto* event = std::get_if<model::Event>(&callback.trigger);
  return event != nullptr ? event->offset.value_or(model::Nanoseconds{0}).count() : 0;
}

model::Event densest(model::Event event, std::int64_t offset_ns) {
  if (event.period > model::Nanoseconds::zero()) {
    event.seed = model::Event::kDensest;
  } else {
    event.max_interval = event.min_interval;
  }
  event.offset = model::Nanoseconds(offset_ns);
  return event;
}

model::Event at_extremes(model::Event event, std::int64_t offset_ns, std::uint64_t seed) {
  event.seed =
      model::EventTimes::kExtremes + seed % (model::Event::kDensest - model::EventTimes::kExtremes);
  const bool has_period = event.period > model::Nanoseconds::zero();
  const std::int64_t within_ns = (has_period ? event.period : event.max_interval).count();
  event.offset = model::Nanoseconds(offset_ns % within_ns);
  return event;
}

}  // namespace rclrt::analysis::detail
