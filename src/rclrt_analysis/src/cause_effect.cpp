// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/cause_effect.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "bounds/cores.hpp"
#include "bounds/set_turns.hpp"
#include "rclrt/model/warnings.hpp"

namespace rclrt::analysis {

namespace {

using model::CallbackKind;
using model::CauseEffectChain;
using model::Segment;

/// Returns whether a callback starts only if none of the same executor that is more urgent is
/// ready.
bool runs_most_urgent(const model::ExecutorChoice& executor) {
  return executor.kind == ExecutorKind::kPreemptive ||
         executor.kind == ExecutorKind::kProducerConsumer ||
         executor.kind == ExecutorKind::kThreadDispatch;
}

class Steps {
 public:
  Steps(const model::Application& application, const model::ExecutorChoice& executor,
        const Overheads& overheads, std::span<const ChainBound> chains,
        const model::Application& with_hosts, std::span<const LinkBound> links)
      : application_(application),
        with_hosts_(with_hosts),
        links_(links),
        runs_most_urgent_(runs_most_urgent(executor)),
        overheads_(overheads),
        chains_(chains),
        priorities_(application.effective_priorities()),
        turns_(application, executor, overheads) {}

  /// Returns the bound with the best verdict: by the bounds of the segments if they have some, or
  /// by the turns of ready sets also where those hold only if nothing is lost.
  CauseEffectBound bound(const CauseEffectChain& chain) const {
    CauseEffectBound result = bound(chain, false);
    const bool may_lose = std::ranges::any_of(chain.segments, [&](const Segment& segment) {
      return chains_[segment.chain].bound && !chains_[segment.chain].without_loss.empty();
    });
    if (may_lose && result.verdict != Verdict::kProved) {
      CauseEffectBound other = bound(chain, true);
      if (other.verdict == Verdict::kProved || !holds(result.verdict)) {
        result = std::move(other);
      }
    }
    return result;
  }

 private:
  /// `with_loss`: turns of ready sets also count where a bound holds only if nothing is lost.
  CauseEffectBound bound(const CauseEffectChain& chain, bool with_loss) const {
    CauseEffectBound result;
    std::vector<SegmentTimes> times;
    for (const Segment& segment : chain.segments) {
      const ChainBound& own = chains_[segment.chain];
      const std::string name = "'" + application_.chains[segment.chain].id + "'";
      if (const auto served = served_times(segment, times.empty(), with_loss)) {
        times.push_back({served->interval, served->response, true});
        add_conditions(conditions_with_loss(own), result.assumptions);
        continue;
      }
      add_conditions(own.assumptions, result.assumptions);
      times.push_back({longest_interval(segment), end_of(segment), false});
      if (!own.bound) {
        result.note = own.note.empty() ? "no bound was found for " + name : name + ": " + own.note;
      } else if (is_logical(segment) && !holds(own.verdict)) {
        result.note =
            "the values of " + name + " move at its deadline (let), which is not proved to hold";
      } else if (!own.reaction && result.note.empty()) {
        result.note = "a message of " + name + " may stay unmatched in a synchroniser";
      }
    }
    if (newest_cross_processes(chain) && !model::middleware_is_above(application_)) {
      add_conditions({detail::kMiddlewareHandsOver}, result.assumptions);
    }
    if (const auto* const waiting = some_that_waits()) {
      result.note = "callback '" + waiting->id +
                    "' waits (waits_ms), and no bound on the reaction time and the data age is "
                    "proved with callbacks that wait";
    }
    for (std::size_t i = 0; i + 1 < chain.segments.size() && result.note.empty(); ++i) {
      result.note = why_not_transported(chain.segments[i], chain.segments[i + 1]);
    }
    if (result.note.empty()) {
      add_terms(chain, times, result);
    }
    judge(chain, result);
    return result;
  }

  /// Returns a callback that waits, nullptr if none does: meanwhile, less urgent ones may read.
  const model::Callback* some_that_waits() const {
    const auto found = std::ranges::find_if(
        application_.callbacks, [](const auto& each) { return each.waits.count() > 0; });
    return found != application_.callbacks.end() ? &*found : nullptr;
  }

  struct SegmentTimes {
    Ticks interval{};  ///< the longest one between two releases
    Ticks end{};       ///< after a release: the last callback has stored or put out its value
    bool in_turns{};   ///< by the turns of ready sets: some releases are not served
  };

  /// Returns the times of a segment of which some releases may not be served.
  std::optional<detail::ServedTimes> served_times(const Segment& segment, bool is_first,
                                                  bool with_loss) const {
    const ChainBound& own = chains_[segment.chain];
    if ((own.bound && !(with_loss && !own.without_loss.empty())) || is_logical(segment)) {
      return std::nullopt;
    }
    return turns_.of(application_.chains[segment.chain], !is_first);
  }

  const model::Callback& root(const Segment& segment) const {
    return application_.callbacks[application_.chains[segment.chain].callbacks.front()];
  }

  Ticks longest_interval(const Segment& segment) const {
    return model::max_interval(root(segment)).count();
  }

  /// Returns the conditions of a bound that also holds if releases are skipped or messages lost.
  static std::vector<std::string> conditions_with_loss(const ChainBound& own) {
    std::vector<std::string> result = own.assumptions;
    std::erase_if(result, [&](const std::string& each) {
      return std::ranges::find(own.without_loss, each) != own.without_loss.end();
    });
    return result;
  }

  static void add_conditions(const std::vector<std::string>& from, std::vector<std::string>& to) {
    for (const std::string& each : from) {
      if (std::ranges::find(to, each) == to.end()) {
        to.push_back(each);
      }
    }
  }

  void add_terms(const CauseEffectChain& chain, std::span<const SegmentTimes> times,
                 CauseEffectBound& result) const {
    using Kind = CauseEffectTerm::Kind;
    const auto& segments = chain.segments;
    if (root(segments.front()).kind() != CallbackKind::kEvent) {
      result.why.push_back({.kind = Kind::kSource, .reaction = times.front().interval});
    }
    const auto add_end = [&](std::size_t i, Ticks end) {
      const Kind kind = is_logical(segments[i]) ? Kind::kLogical : Kind::kResponse;
      result.why.push_back({.kind = kind, .segment = i, .reaction = end, .age = end});
    };
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
      CauseEffectTerm wait{.kind = Kind::kSampling,
                           .segment = i + 1,
                           .reaction = times[i + 1].interval,
                           .age = times[i].interval};
      if (times[i].in_turns || times[i + 1].in_turns) {
        add_end(i, times[i].end + transport(segments[i], segments[i + 1]));
      } else {
        const Ticks stored = stored_after(segments[i], segments[i + 1]);
        add_end(i, stored);
        if (hosts_of(segments[i]).first == hosts_of(segments[i + 1]).first) {
          // The offsets of one host are on one clock.
          shorten(wait, grid(segments[i]), grid(segments[i + 1]), stored);
        }
      }
      result.why.push_back(wait);
    }
    add_end(segments.size() - 1, times.back().end);
    Ticks reaction = 0;
    Ticks age = 0;
    for (const CauseEffectTerm& term : result.why) {
      reaction += term.reaction;
      age += term.age;
    }
    result.reaction = reaction;
    result.age = age;
  }

  /// Returns the time after a release of the writer at which every run of the reader that starts
  /// finds its value stored.
  Ticks stored_after(const Segment& writer, const Segment& reader) const {
    const Ticks end = end_of(writer) + transport(writer, reader);
    const bool waits = !is_logical(writer) && !is_logical(reader) && waits_for(writer, reader);
    return waits ? std::min(end, overheads_.timer_jitter) : end;
  }

  /// Returns how long a value takes from the writer's end until it can be read: the time of a
  /// message if the reader takes the newest one of a topic.
  Ticks transport(const Segment& writer, const Segment& reader) const {
    const auto executors = newest_between(writer, reader);
    if (!executors) {
      return 0;
    }
    const LinkBound* const link = link_between(writer, reader);
    const Ticks on_link = link != nullptr ? link->delay.value_or(0) : 0;
    return on_link +
           (executors->first == executors->second ? overheads_.near.max : overheads_.far.max);
  }

  using Hosts = std::pair<std::optional<std::size_t>, std::optional<std::size_t>>;

  /// Returns the hosts of a segment's first and last callback.
  Hosts hosts_of(const Segment& segment) const {
    const auto& path = application_.chains[segment.chain].callbacks;
    return {with_hosts_.host_of(path.front()), with_hosts_.host_of(path.back())};
  }

  /// Returns the hosts between which a newest message goes; equal ones if it stays on one.
  Hosts way_of_newest(const Segment& writer, const Segment& reader) const {
    const auto& path = application_.chains[reader.chain].callbacks;
    return {hosts_of(writer).second, with_hosts_.host_of(path[reader.entry])};
  }

  const LinkBound* link_between(const Segment& writer, const Segment& reader) const {
    const Hosts way = way_of_newest(writer, reader);
    const auto found = std::ranges::find_if(links_, [&](const LinkBound& each) {
      return way.first == each.way.from && way.second == each.way.to;
    });
    return found != links_.end() ? &*found : nullptr;
  }

  /// Returns why a newest message has no bound on its way from host to host; else an empty text.
  std::string why_not_transported(const Segment& writer, const Segment& reader) const {
    const Hosts way = way_of_newest(writer, reader);
    const LinkBound* const link = link_between(writer, reader);
    if (way.first == way.second || (link != nullptr && link->delay)) {
      return {};
    }
    return link != nullptr
               ? link->note
               : "no bound of a link is known from host '" + with_hosts_.hosts[*way.first].name +
                     "' to host '" + with_hosts_.hosts[*way.second].name + "'";
  }

  /// Returns the executors of the writer and of the reader if it takes the newest message of a
  /// topic of the writer.
  std::optional<std::pair<std::size_t, std::size_t>> newest_between(const Segment& writer,
                                                                    const Segment& reader) const {
    const std::size_t from = application_.chains[writer.chain].callbacks.back();
    const std::size_t to = application_.chains[reader.chain].callbacks[reader.entry];
    if (!model::sampled_topic(application_.callbacks[from], application_.callbacks[to])) {
      return std::nullopt;
    }
    return std::pair(application_.executor_of(from), application_.executor_of(to));
  }

  /// Returns whether a newest message goes to another process. A thread of the middleware receives
  /// it there, which is no part of the bound of either segment.
  bool newest_cross_processes(const CauseEffectChain& chain) const {
    for (std::size_t i = 0; i + 1 < chain.segments.size(); ++i) {
      const auto executors = newest_between(chain.segments[i], chain.segments[i + 1]);
      if (executors && application_.executors[executors->first].process !=
                           application_.executors[executors->second].process) {
        return true;
      }
    }
    return false;
  }

  bool is_logical(const Segment& segment) const {
    return application_.chains[segment.chain].logical_execution;
  }

  /// Returns the time after its release at which the segment's last callback stores or puts out; 0
  /// if there is no bound.
  Ticks end_of(const Segment& segment) const {
    return is_logical(segment) ? application_.chains[segment.chain].deadline.count()
                               : chains_[segment.chain].bound.value_or(0);
  }

  /// Returns whether the reader starts only when no released instance of the writer is unfinished:
  /// one executor on one CPU runs both, each callback of the writer is more urgent than the reader,
  /// and is ready as soon as the one before it has ended.
  bool waits_for(const Segment& writer, const Segment& reader) const {
    const auto& path = application_.chains[writer.chain].callbacks;
    const std::size_t reads = application_.chains[reader.chain].callbacks[reader.entry];
    const std::size_t executor = application_.executor_of(reads);
    const model::Executor& own = application_.executors[executor];
    return runs_most_urgent_ && own.cpus.size() == 1 && own.scheduler_cpus.empty() &&
           overheads_.near.max == 0 && std::ranges::all_of(path, [&](std::size_t callback) {
             return application_.executor_of(callback) == executor &&
                    priorities_[callback] > priorities_[reads] &&
                    application_.callbacks[callback].kind() != CallbackKind::kSync;
           });
  }

  /// Shortens the wait of a stored value for the reader if both releases are on stated grids.
  static void shorten(CauseEffectTerm& wait, const model::Timer* from, const model::Timer* to,
                      Ticks stored) {
    if (from == nullptr || to == nullptr) {
      return;
    }
    const Ticks step = std::gcd(from->period.count(), to->period.count());
    const Ticks shift = ((to->offset - from->offset).count() - stored) % step;
    const Ticks less = step - (shift < 0 ? shift + step : shift);
    wait.reaction -= less;
    wait.age -= less;
  }

  /// Returns the timer of a segment if its releases are on a grid that the file states.
  const model::Timer* grid(const Segment& segment) const {
    const auto* timer = std::get_if<model::Timer>(&root(segment).trigger);
    const bool keeps =
        timer != nullptr && timer->offset_stated && timer->overrun != model::OverrunPolicy::kRebase;
    return keeps ? timer : nullptr;
  }

  static void judge(const CauseEffectChain& chain, CauseEffectBound& result) {
    const auto exceeds = [](const std::optional<Ticks>& bound, const auto& limit) {
      return limit && bound && *bound > limit->count();
    };
    if (!result.reaction) {
      return;
    }
    const bool reacts_late = exceeds(result.reaction, chain.max_reaction);
    const bool is_old = exceeds(result.age, chain.max_age);
    if (reacts_late || is_old) {
      result.note = std::string("the bound on the ") +
                    (!is_old        ? "reaction time"
                     : !reacts_late ? "data age"
                                    : "reaction time and that on the data age") +
                    (is_old && reacts_late ? " are above their limits, which proves nothing"
                                           : " is above the limit, which proves nothing");
      return;
    }
    result.verdict = result.assumptions.empty() ? Verdict::kProved : Verdict::kConditional;
  }

  const model::Application& application_;
  const model::Application& with_hosts_;
  std::span<const LinkBound> links_;
  bool runs_most_urgent_;
  const Overheads& overheads_;
  std::span<const ChainBound> chains_;
  std::vector<int> priorities_;
  detail::SetTurns turns_;
};

}  // namespace

std::vector<CauseEffectBound> cause_effect_bounds(const model::Application& application,
                                                  const model::ExecutorChoice& executor,
                                                  const Overheads& overheads,
                                                  std::span<const ChainBound> chains,
                                                  std::span<const LinkBound> links) {
  if (chains.size() != application.chains.size()) {
    throw std::invalid_argument("cause_effect_bounds needs one bound for each chain");
  }
  if (application.cause_effect_chains.empty()) {
    return {};
  }
  const model::Application apart = model::with_distinct_cpus(application);
  const Steps steps(apart, executor, overheads, chains, application, links);
  std::vector<CauseEffectBound> result;
  for (const CauseEffectChain& chain : application.cause_effect_chains) {
    result.push_back(steps.bound(chain));
  }
  return result;
}

}  // namespace rclrt::analysis
