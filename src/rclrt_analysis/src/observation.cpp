// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/observation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "bounds/cores.hpp"
#include "evidence.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/model/executor_kind.hpp"

namespace rclrt::analysis {
namespace {

using detail::Event;
using detail::Span;
using model::Application;

/// The kernel's default period of its limit, in ns.
constexpr double kLimitPeriod = 1e9;

constexpr const char* kAnyCpu =
    "the application may use every CPU, and the bound is that of one (cpus: [n])";

/// Bounds and queues of one application by the length of a stall, kept after their first use.
class KnownStalledBounds {
 public:
  KnownStalledBounds(const Application& application, model::ExecutorChoice executor,
                     Overheads overheads, Effort effort)
      : application_(application),
        executor_(std::move(executor)),
        overheads_(overheads),
        effort_(effort) {}

  std::optional<Ticks> bound(const std::string& chain, Ticks stalled) {
    const auto [at, is_new] = bounds_.try_emplace(stalled);
    if (is_new) {
      at->second = chain_bounds(application_, executor_, with(stalled), effort_);
    }
    return at->second.at(place_of(chain)).bound;
  }

  bool may_drop(const std::string& chain, Ticks stalled) {
    const auto [at, is_new] = queues_.try_emplace(stalled);
    if (is_new) {
      at->second = queue_bounds(application_, executor_, with(stalled), effort_);
    }
    return std::ranges::any_of(
        application_.chains.at(place_of(chain)).callbacks,
        [&](std::size_t callback) { return !at->second.at(callback).holds(); });
  }

 private:
  Overheads with(Ticks stalled) const {
    Overheads overheads = overheads_;
    overheads.stall = stalled;
    return overheads;
  }

  std::size_t place_of(const std::string& chain) const {
    const auto at = std::ranges::find(application_.chains, chain, &model::Chain::id);
    return static_cast<std::size_t>(at - application_.chains.begin());
  }

  const Application& application_;
  model::ExecutorChoice executor_;
  Overheads overheads_;
  Effort effort_;
  std::map<Ticks, std::vector<ChainBound>> bounds_;
  std::map<Ticks, std::vector<QueueBound>> queues_;
};

/// The run, in the form that each of its excesses is judged by.
class Evidence {
 public:
  Evidence(const ObservedRun& run, const ObservationContext& context)
      : run_(run), context_(context), instances_(run.instances) {
    for (ObservedInstance& row : instances_) {
      const auto level = context.levels.find(row.callback);
      row.priority = level != context.levels.end() ? level->second : row.priority;
    }
  }

  Excess judge(const ObservedChain& observed, const ChainLimit& limit) {
    const Allowance& allowed = context_.allowed;
    const Ticks bound = *limit.bound;
    const Span busy = busy_of(limit).around(observed.release);
    // An instance that never ended was dropped or left over by the end of its busy interval.
    const Ticks end = observed.completion.value_or(std::max(observed.release + bound, busy.end));
    std::vector<Stall> own;
    std::ranges::copy_if(run_.stalls, std::back_inserter(own), [&](const Stall& stall) {
      return limit.cpus.empty() || std::ranges::find(limit.cpus, stall.cpu) != limit.cpus.end();
    });
    std::vector<Stall> excused;
    for (const Stall& stall : own) {
      excused.push_back(allowed.excused(stall));
    }
    std::vector<Event> events = detail::waits(own, allowed, busy.start, end);
    Excess excess{.chain = limit.chain,
                  .instance = observed.instance,
                  .release = observed.release,
                  .response = std::nullopt,
                  .bound = bound,
                  .busy_since = busy.start,
                  .stalled_bound = bound};
    if (observed.completion) {
      excess.response = *observed.completion - observed.release;
    }
    if (limit.cpus.size() == 1) {
      const detail::OneCpu cpu(instances_, own, context_.executor.kind, limit.level, busy.start,
                               end);
      for (Stall& stall : excused) {
        stall = cpu.stretched(stall, allowed);
      }
      excess.lost = cpu.lost(allowed);
      std::ranges::move(cpu.events(allowed), std::back_inserter(events));
    }
    std::ranges::move(
        paths().late_messages(limit.chain, observed.instance, limit.callbacks, allowed),
        std::back_inserter(events));
    if (limit.cpus.empty() && limit.of_one_cpu) {
      events.push_back({busy.start, 0, kAnyCpu});
    }
    excess.stalled = detail::stalled_time(excused, limit.cpus, busy.start, end);
    if (excess.stalled > 0) {
      excess.stalled_bound = context_.bounds.bound(limit.chain, excess.stalled);
    }
    if (excess.stalled > 0 && excess.lost <= excess.stalled && is_covered(observed, excess)) {
      excess.cause = Cause::kHost;
      excess.what = host_text(limit, own, excess, end);
    } else if (!events.empty()) {
      excess.cause = Cause::kAssumption;
      excess.what = detail::to_string(*std::ranges::max_element(events, {}, &Event::excess));
    }
    return excess;
  }

 private:
  const detail::BusyTimes& busy_of(const ChainLimit& limit) {
    return busy_.try_emplace(limit.level, instances_, context_.executor.kind, limit.level)
        .first->second;
  }

  const detail::ChainPaths& paths() {
    if (!paths_) {
      paths_.emplace(instances_);
    }
    return *paths_;
  }

  /// Returns whether the instance is within a bound that allows for the stall.
  bool is_covered(const ObservedChain& observed, const Excess& excess) const {
    if (observed.lost) {
      return context_.bounds.may_drop(excess.chain, excess.stalled);
    }
    if (!excess.stalled_bound) {
      return false;
    }
    return excess.response ? *excess.response <= *excess.stalled_bound
                           : observed.release + *excess.stalled_bound >= run_.end;
  }

  std::string host_text(const ChainLimit& limit, std::span<const Stall> own, const Excess& excess,
                        Ticks end) const {
    char since[64];
    std::snprintf(since, sizeof since, "%.6f", static_cast<double>(excess.busy_since) / 1e9);
    std::string text =
        "the CPU stood still for " + detail::in_ms(excess.stalled) + " since " + since + " s";
    std::vector<Stall> limited;
    std::ranges::copy_if(own, std::back_inserter(limited),
                         [&](const Stall& stall) { return context_.allowed.is_limit(stall); });
    const Ticks held_back = detail::stalled_time(limited, limit.cpus, excess.busy_since, end);
    if (held_back > 0) {
      text += "; the kernel's limit took " + detail::in_ms(held_back) + " of it";
    }
    return text;
  }

  const ObservedRun& run_;
  const ObservationContext& context_;
  std::vector<ObservedInstance> instances_;  ///< with the priorities of their threads
  std::map<int, detail::BusyTimes> busy_;    ///< by level
  std::optional<detail::ChainPaths> paths_;
};

}  // namespace

bool needs_one_cpu(std::span<const std::string> conditions) {
  return std::ranges::any_of(conditions, [](const std::string& condition) {
    return condition.ends_with(detail::kRunsOnOneCpu);
  });
}

ChainLimit chain_limit(const Application& application, std::size_t chain, const ChainBound& bound) {
  const model::Chain& stated = application.chains.at(chain);
  ChainLimit limit{.chain = stated.id,
                   .bound = bound.bound,
                   .level = bound.level,
                   .cpus = {},
                   .callbacks = {},
                   .meets_all = !bound.bound || bound.reaction,
                   .of_one_cpu = needs_one_cpu(bound.assumptions)};
  std::set<int> cpus;
  bool any_cpu = false;
  for (const std::size_t callback : stated.callbacks) {
    limit.callbacks.push_back(application.callbacks[callback].id);
    const auto& own = application.executors[application.executor_of(callback)].cpus;
    any_cpu = any_cpu || own.empty();
    cpus.insert(own.begin(), own.end());
    if (application.callbacks[callback].kind() == model::CallbackKind::kSync) {
      limit.level = std::ranges::min(application.effective_priorities());
    }
  }
  if (!any_cpu) {
    limit.cpus.assign(cpus.begin(), cpus.end());
  }
  return limit;
}

bool is_above(const ObservedChain& observed, const ChainLimit& limit, Ticks end_of_run) {
  if (!limit.bound) {
    return false;
  }
  if (observed.completion) {
    return *observed.completion - observed.release > *limit.bound;
  }
  return limit.meets_all && (observed.lost || observed.release + *limit.bound < end_of_run);
}

Allowance Allowance::of(const Application& application, const Machine& machine) {
  const Overheads& overheads = machine.overheads;
  Allowance result;
  result.each = overheads.dispatch + overheads.scheduler + overheads.polling;
  result.once = overheads.timer_jitter + overheads.background;
  result.background = static_cast<double>(overheads.background) / 1e6;
  result.hop = overheads.far.max;
  // `held_back` is the time by which a response may exceed its bound because the kernel's limit on
  // real-time threads stopped the callbacks. It is set only if the mean load is above that limit.
  // If only some seconds may reach the limit, another thread may also be the cause of a long wait.
  // Then no excess is attributed to the limit, which is a condition of the bounds instead.
  if (machine.is_limited() && mean_load(application, machine) > machine.realtime_share) {
    result.held_back = std::llround((1 - machine.realtime_share) * kLimitPeriod);
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    result.wcet[callback.id] = callback.wcet.count();
    if (callback.waits.count() > 0) {
      result.waits[callback.id] = callback.waits.count();
    }
    result.executors[callback.id] = application.executor_of(i);
    if (callback.kind() == model::CallbackKind::kSync) {
      result.syncs.insert(callback.id);
    }
  }
  return result;
}

Ticks Allowance::wcet_of(const std::string& callback) const {
  const auto at = wcet.find(callback);
  return at != wcet.end() ? at->second : 0;
}

Ticks Allowance::waits_of(const std::string& callback) const {
  const auto at = waits.find(callback);
  return at != waits.end() ? at->second + each : 0;
}

bool Allowance::is_limit(const Stall& stall) const {
  return held_back > 0 && 2 * stall.waited >= held_back;
}

Stall Allowance::excused(const Stall& stall) const {
  Stall result = stall;
  if (!is_limit(stall)) {
    result.end = std::max(stall.start, stall.end - stall.waited);
  }
  return result;
}

StalledBounds stalled_bounds(const Application& application, const model::ExecutorChoice& executor,
                             const Machine& machine, Effort effort) {
  const auto known =
      std::make_shared<KnownStalledBounds>(application, executor, machine.overheads, effort);
  return {.bound = [known](const std::string& chain,
                           Ticks stalled) { return known->bound(chain, stalled); },
          .may_drop = [known](const std::string& chain,
                              Ticks stalled) { return known->may_drop(chain, stalled); }};
}

const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::kHost:
      return "host";
    case Cause::kAssumption:
      return "assumption";
    case Cause::kUnexplained:
      break;
  }
  return "unexplained";
}

ObservationContext observation_context(const Application& application,
                                       const model::ExecutorChoice& executor,
                                       const Machine& machine, Effort effort) {
  ObservationContext context{.executor = executor,
                             .allowed = Allowance::of(application, machine),
                             .bounds = stalled_bounds(application, executor, machine, effort),
                             .levels = {}};
  const std::vector<int> levels = model::thread_levels(application, executor.kind);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    context.levels[application.callbacks[i].id] = levels[i];
  }
  return context;
}

std::vector<Excess> judge_observations(const ObservedRun& run, std::span<const ChainLimit> limits,
                                       const ObservationContext& context) {
  std::optional<Evidence> evidence;  // most runs need none
  std::vector<Excess> found;
  for (const ObservedChain& observed : run.chains) {
    const auto limit = std::ranges::find(limits, observed.chain, &ChainLimit::chain);
    if (limit == limits.end() || !is_above(observed, *limit, run.end)) {
      continue;
    }
    if (!evidence) {
      evidence.emplace(run, context);
    }
    found.push_back(evidence->judge(observed, *limit));
  }
  return found;
}

std::vector<Excess> judge_observations(const ObservedRun& run, const Application& application,
                                       const model::ExecutorChoice& executor,
                                       const Machine& machine, Effort effort) {
  const Judgement judgement = judge(application, executor, machine, effort);
  std::vector<ChainLimit> limits;
  for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
    limits.push_back(chain_limit(application, i, judgement.chains[i]));
  }
  return judge_observations(run, limits,
                            observation_context(application, executor, machine, effort));
}

BoundStatus status_of(std::size_t above, std::size_t conditions, bool realtime) {
  if (above == 0 || !realtime) {
    return BoundStatus::kHolds;
  }
  return conditions > 0 ? BoundStatus::kConditionBroken : BoundStatus::kContradicted;
}

bool contradicts_proof(Verdict verdict, std::optional<Ticks> bound,
                       const ObservedTotals& observed) {
  if (verdict != Verdict::kProved) {
    return false;
  }
  const bool is_above = bound && observed.worst && *observed.worst > *bound + observed.stalled;
  return observed.missed > 0 || is_above;
}

}  // namespace rclrt::analysis
