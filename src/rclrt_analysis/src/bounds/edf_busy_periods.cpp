// SPDX-License-Identifier: Apache-2.0
#include "bounds/edf_busy_periods.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "load.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr std::size_t kMostInstances = 200'000;
/// Steps for the longest busy period. Near a load of 1 it takes many more.
constexpr std::int64_t kLongestSteps = 1'000'000;

/// One instance. `arrival` is before 0 if its jitter allows more than the start of the busy period.
struct Instance {
  Ticks due{};
  Ticks arrival{};
  Ticks work{};

  bool operator>(const Instance& other) const { return arrival > other.arrival; }
};

/// Returns whether the load of all streams is below 1 and their jitter has a bound.
bool has_bound(const EdfWork& work) {
  Load load;
  const auto add = [&](const Stream& stream) {
    if (stream.work > 0 && stream.period < kHorizon) {
      load.add(stream.work, stream.period);
    }
    return stream.work == 0 || stream.jitter < kMaxTicks;
  };
  return std::ranges::all_of(work.always, add) &&
         std::ranges::all_of(work.due, add, &EdfWork::Due::stream) &&
         !(load.compare_with_one() >= 0);
}

/// The instances of the due streams, in order of deadlines.
class DueInstances {
 public:
  /// Leaves out those that arrive at `end` or later.
  DueInstances(const std::vector<EdfWork::Due>& due, Ticks end) : end_(end) {
    for (const EdfWork::Due& each : due) {
      longest_ = std::max(longest_, each.deadline);
      if (each.stream.work > 0) {
        streams_.push_back({each, 0});
      }
    }
    until_ = longest_ / 16;
  }

  /// Adds the instances that are due by a later time than those so far. Returns false if there are
  /// too many.
  bool more() {
    until_ = until_ == 0 ? 1 : until_ * 2;
    const auto sorted = static_cast<std::ptrdiff_t>(all_.size());
    for (auto& [due, next] : streams_) {
      for (Ticks arrival = due.stream.arrival(next);
           due_of(due, arrival) <= until_ && arrival < end_; arrival = due.stream.arrival(++next)) {
        if (all_.size() >= kMostInstances) {
          return false;
        }
        all_.push_back({due_of(due, arrival), arrival, due.stream.work});
      }
    }
    std::sort(all_.begin() + sorted, all_.end(),
              [](const Instance& a, const Instance& b) { return a.due < b.due; });
    return true;
  }

  const std::vector<Instance>& all() const { return all_; }

  /// Returns the time up to which all() has all instances that are due.
  Ticks until() const { return until_; }

  /// Returns whether an instance that is due later than until() arrives before `end`.
  bool arrives_later(Ticks end) const {
    return std::ranges::any_of(
        streams_, [&](const auto& each) { return each.first.stream.arrival(each.second) < end; });
  }

  Ticks longest_deadline() const { return longest_; }

 private:
  /// Returns the earliest deadline of an instance that arrives at `arrival` or, if that is before
  /// 0, at 0.
  static Ticks due_of(const EdfWork::Due& due, Ticks arrival) {
    return std::max(arrival, -due.late) + due.deadline;
  }

  std::vector<std::pair<EdfWork::Due, Ticks>> streams_;  // with the number of the next instance
  std::vector<Instance> all_;
  Ticks end_;
  Ticks longest_{};
  Ticks until_{};
};

/// Bounds on E(d) for all deadlines d: see EdfBusyPeriods.
class EndBounds {
 public:
  explicit EndBounds(const EdfWork& work) {
    for (const EdfWork::Blocking& each : work.blocking) {
      once_ = std::max(once_, static_cast<long double>(each.work) + 1);
    }
    for (const Stream& stream : work.always) {
      const long double share = utilisation(stream);
      once_ += share * (static_cast<long double>(stream.jitter) + stream.period);
      rest_ -= share;
    }
    for (const EdfWork::Due& each : work.due) {
      const Ticks arrival = each.stream.jitter + each.stream.period;
      due_.push_back({utilisation(each.stream), {arrival, arrival - each.deadline}});
    }
  }

  /// Returns a time that E(d) is not above, for any d: kHorizon if there is none.
  Ticks longest_end() const {
    long double total = once_;
    long double rest = rest_;
    for (const auto& [share, early] : due_) {
      total += share * static_cast<long double>(early.arrival);
      rest -= share;
    }
    const long double most = rest > 0 ? total / rest : kHorizon;
    constexpr Ticks kLongest = kHorizon / 2;
    return most < static_cast<long double>(kLongest) ? static_cast<Ticks>(most) + 1 : kHorizon;
  }

  /// Returns a whole number that E(d) - d is not above, for all d from `deadline` on.
  Ticks lateness_from(Ticks deadline) const {
    long double total = once_;
    long double rate = 0;
    for (const auto& [share, early] : due_) {
      total += share * static_cast<long double>(std::max<Ticks>(0, deadline + early.due));
      rate += share;
    }
    if (rate >= rest_) {
      return kHorizon;
    }
    const long double most = (total / rest_) - 1 - deadline;
    return most < static_cast<long double>(kHorizon)
               ? static_cast<Ticks>(std::floor(most + kRounding))
               : kHorizon;
  }

 private:
  static constexpr long double kRounding = 0.01L;

  static long double utilisation(const Stream& stream) {
    return static_cast<long double>(stream.work) / stream.period;
  }

  /// By how much instances are more than their rate, up to an arrival or a deadline.
  struct Early {
    Ticks arrival{};
    Ticks due{};
  };

  long double once_ = 1;
  long double rest_ = 1;  // of the CPU, without the streams that always count
  std::vector<std::pair<long double, Early>> due_;  // with their utilisations
};

/// The limits of responses that have not been exceeded.
class OpenLimits {
 public:
  explicit OpenLimits(const std::vector<EdfWork::Limit>& limits) : open_(limits) { update(); }

  /// Notes that an instance which is due at `deadline` ends `late` after that.
  void note(Ticks deadline, Ticks late) {
    if (late > least_) {
      std::erase_if(open_, [&](const EdfWork::Limit& each) {
        return each.deadline <= deadline && each.response - each.deadline < late;
      });
      update();
    }
  }

  /// Returns the least lateness that some limit allows; kHorizon: none is left.
  Ticks least() const { return least_; }

 private:
  void update() {
    least_ = kHorizon;
    for (const EdfWork::Limit& each : open_) {
      least_ = std::min(least_, each.response - each.deadline);
    }
  }

  std::vector<EdfWork::Limit> open_;
  Ticks least_{};
};

/// The busy period of one deadline, which grows as the deadline does.
class GrowingPeriod {
 public:
  explicit GrowingPeriod(const std::vector<Stream>& always) {
    for (const Stream& stream : always) {
      if (stream.work > 0) {
        stream.add_to(always_);
      }
    }
  }

  void restart(Ticks blocking) {
    always_.rewind();
    later_ = {};
    due_ = end_ = blocking + 1;
  }

  void add(const Instance& instance) {
    if (instance.arrival < end_) {
      due_ += instance.work;
      end_ += instance.work;
    } else {
      later_.push(instance);
    }
  }

  /// Returns the end of the period, plus 1, when all that arrives before it has been done. nullopt
  /// if the budget ends.
  std::optional<Ticks> end(Budget& budget) {
    while (budget.take(always_.size())) {
      for (; !later_.empty() && later_.top().arrival < end_; later_.pop()) {
        due_ += later_.top().work;
        end_ += later_.top().work;
      }
      const Ticks next = due_ + always_.at(end_);
      if (next == end_ && (later_.empty() || later_.top().arrival >= end_)) {
        return end_;
      }
      end_ = next;
    }
    return std::nullopt;
  }

 private:
  Demand always_{Count::kBefore};
  Ticks due_{};  // what has arrived and is due, and what counts once
  Ticks end_{};
  std::priority_queue<Instance, std::vector<Instance>, std::greater<>> later_;  // due, not arrived
};

/// The blocking of each deadline, as steps.
class BlockingSteps {
 public:
  explicit BlockingSteps(const std::vector<EdfWork::Blocking>& blocking) : blocking_(blocking) {
    for (const EdfWork::Blocking& each : blocking) {
      changes_.push_back(each.from);
      changes_.push_back(each.until);
    }
    std::ranges::sort(changes_);
  }

  /// Returns the first deadline after this one at which the blocking may differ; kHorizon: none.
  Ticks next_change(Ticks deadline) const {
    const auto at = std::ranges::upper_bound(changes_, deadline);
    return at == changes_.end() ? kHorizon : *at;
  }

  Ticks longest() const {
    Ticks longest = 0;
    for (const EdfWork::Blocking& each : blocking_) {
      longest = std::max(longest, each.work);
    }
    return longest;
  }

  Ticks at(Ticks deadline) const {
    Ticks longest = 0;
    for (const EdfWork::Blocking& each : blocking_) {
      if (each.from <= deadline && deadline < each.until) {
        longest = std::max(longest, each.work);
      }
    }
    return longest;
  }

 private:
  const std::vector<EdfWork::Blocking>& blocking_;
  std::vector<Ticks> changes_;
};

/// Returns the least w with w = 1 + `blocking` + the work of all instances that arrive before w,
/// which no E(d) + 1 is above. If that takes too long, returns a bound on it.
Ticks longest_end(const EdfWork& work, Ticks blocking, const EndBounds& bound, Budget& budget) {
  std::vector<Stream> all = work.always;
  for (const EdfWork::Due& each : work.due) {
    all.push_back(each.stream);
  }
  Budget part = budget.part(std::min(budget.left(), kLongestSteps));
  const auto found = longest_busy_period(all, sum(blocking, 1), part);
  budget.take(static_cast<std::size_t>(part.used()));
  return found ? *found : bound.longest_end();
}

}  // namespace

EdfBusyPeriods::EdfBusyPeriods(const EdfWork& work, Budget& budget) {
  if (has_bound(work) && !search(work, budget)) {
    steps_.clear();
  }
  Ticks latest = latest_after_;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    latest = std::max(latest, step->end - step->from);
    step->latest = latest;
  }
}

/// Ends the search with one bound on Step::latest, for all deadlines.
bool EdfBusyPeriods::bounded_by(Ticks latest) {
  steps_.push_back({});
  latest_after_ = latest;
  return true;
}

/// Returns false if the budget ends. Where there are too many instances to follow, the rest has the
/// bound of EndBounds.
bool EdfBusyPeriods::search(const EdfWork& work, Budget& budget) {
  const BlockingSteps blocking(work.blocking);
  const EndBounds bound(work);
  OpenLimits limits(work.limits);
  const bool has_limits = !work.limits.empty();
  if (const Ticks most = bound.lateness_from(0); has_limits && most <= limits.least()) {
    return bounded_by(most);
  }
  const Ticks end_of_all = longest_end(work, blocking.longest(), bound, budget);
  longest_ = end_of_all < kHorizon ? end_of_all - 1 : kHorizon;
  DueInstances instances(work.due, end_of_all);
  if (!instances.more()) {
    return bounded_by(bound.lateness_from(0));
  }
  GrowingPeriod period(work.always);
  Ticks longest = -kHorizon;  // lateness since the longest deadline
  Ticks deadline = 0;
  Ticks blocked = blocking.at(deadline);
  period.restart(blocked);
  std::size_t next = 0;
  while (true) {
    const auto& all = instances.all();
    for (; next < all.size() && all[next].due <= deadline; ++next) {
      period.add(all[next]);
    }
    const auto end = period.end(budget);
    if (!end) {
      return false;
    }
    const Ticks late = *end - 1 - deadline;
    steps_.push_back({deadline, *end - 1, 0});
    limits.note(deadline, late);
    longest = deadline >= instances.longest_deadline() ? std::max(longest, late) : longest;
    const Ticks change = blocking.next_change(deadline);
    while (next == all.size() && change > instances.until()) {
      // No later deadline matters, or no later instance arrives.
      const Ticks later = bound.lateness_from(instances.until() + 1);
      if (later <= (has_limits ? limits.least() : longest)) {
        latest_after_ = has_limits ? later : -kHorizon;
        return true;
      }
      if (change >= kHorizon && !instances.arrives_later(*end)) {
        return true;
      }
      if (!instances.more()) {
        latest_after_ = later;
        return true;
      }
      budget.take(instances.all().size() - next);
    }
    deadline = next < all.size() ? std::min(all[next].due, change) : change;
    if (const Ticks other = blocking.at(deadline); other != blocked) {
      budget.take(next);
      blocked = other;
      period.restart(blocked);
      std::for_each_n(all.begin(), next, [&](const Instance& each) { period.add(each); });
    }
  }
}

Ticks EdfBusyPeriods::response(Ticks deadline) const {
  if (steps_.empty()) {
    return kHorizon;
  }
  const auto after = std::ranges::upper_bound(steps_, deadline, {}, &Step::from);
  const Ticks first = after == steps_.begin() ? 0 : std::prev(after)->end;
  const Ticks latest = after == steps_.end() ? latest_after_ : after->latest;
  return std::min(longest_, std::max(first, deadline + latest));
}

}  // namespace rclrt::analysis::detail
