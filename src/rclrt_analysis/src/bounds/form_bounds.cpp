// SPDX-License-Identifier: Apache-2.0
#include "bounds/form_bounds.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "bounds/chosen_chains.hpp"
#include "bounds/global_bounds.hpp"
#include "bounds/placements.hpp"
#include "bounds/preemptive_form.hpp"
#include "bounds/separate_lanes.hpp"
#include "network/network_bounds.hpp"
#include "throttling.hpp"

namespace rclrt::analysis {

namespace {

/// Replaces a bound by a lower one, unless only the higher one is proved.
void keep_lower(ChainBound& own, ChainBound other) {
  const bool is_lower = other.bound && (!own.bound || *other.bound < *own.bound);
  if (is_lower && (own.verdict != Verdict::kProved || other.verdict == Verdict::kProved)) {
    own = std::move(other);
  }
}

/// Adds the condition of a bound that counts no hand-over, although dispatching takes time.
void assume_no_handover(const Overheads& overheads, ChainBound& bound) {
  const bool takes_time = overheads.dispatch > 0 || overheads.polling > 0;
  if (!bound.bound || !takes_time || overheads.handover > 0) {
    return;
  }
  bound.assumptions.emplace_back(detail::kNoHandoverTime);
  if (bound.verdict == Verdict::kProved) {
    bound.verdict = Verdict::kConditional;
  }
}

/// An application and the executor, with all that its bounds depend on.
struct Analysed {
  ExecutorKind kind;  ///< of which the formulas are used
  const model::ExecutorChoice& executor;
  const Overheads& overheads;
  Effort effort;
};

/// Returns detail::with_separate_lanes() if no callback waits.
std::optional<model::Application> separate_lanes(const model::Application& form,
                                                 const model::ExecutorChoice& executor) {
  const bool waits = std::ranges::any_of(
      form.callbacks, [](const model::Callback& each) { return each.waits.count() > 0; });
  return waits ? std::nullopt : detail::with_separate_lanes(form, executor);
}

/// Returns the bounds of chains of an application in the form in which it is analysed.
std::vector<ChainBound> bounds_on_cpus(const model::Application& form, const Analysed& with,
                                       std::span<const std::size_t> chains, bool& gave_up) {
  std::vector<ChainBound> result = detail::bounds_of_form(
      form, with.kind, with.executor, with.overheads, with.effort, chains, gave_up);
  if (const auto apart = separate_lanes(form, with.executor)) {
    auto others =
        detail::bounds_of_form(*apart, with.kind, with.executor,
                               detail::separate_overheads(with.overheads, form, with.executor),
                               with.effort, chains, gave_up);
    for (std::size_t i = 0; i < result.size(); ++i) {
      assume_no_handover(with.overheads, others[i]);
      keep_lower(result[i], std::move(others[i]));
    }
  }
  return result;
}

/// Returns the bounds that hold wherever executors that state no CPUs may run: one for each chain.
std::vector<ChainBound> bounds_on_any_cpus(const std::vector<detail::Placement>& placements,
                                           const Analysed& with,
                                           std::span<const std::size_t> chains, bool& gave_up) {
  std::vector<std::vector<ChainBound>> by_chain(chains.size());
  for (const detail::Placement& placement : placements) {
    std::vector<ChainBound> found = bounds_on_cpus(placement.application, with, chains, gave_up);
    for (std::size_t i = 0; i < found.size(); ++i) {
      detail::assume_more_cpus(placement, with.overheads, found[i]);
      by_chain[i].push_back(std::move(found[i]));
    }
  }
  std::vector<ChainBound> result;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const model::Chain& chain = placements.front().application.chains[chains[i]];
    result.push_back(detail::largest_of(chain, std::move(by_chain[i])));
  }
  return result;
}

/// Replaces a bound with the condition that executors run on one CPU each by one that holds
/// wherever they run. If only the first one is within the deadline, it stays. `is_known`: the
/// machine has a known number of CPUs.
void prefer_any_cpus(ChainBound& own, ChainBound anywhere, bool is_known) {
  const bool adds = is_known || (anywhere.bound && !own.bound);
  if (holds(anywhere.verdict) || (!holds(own.verdict) && adds)) {
    own = std::move(anywhere);
  } else if (!own.bound && own.note == detail::kTakesAnyOrder) {
    own.note = std::move(anywhere.note);  // the reason on stated CPUs
  } else if (!own.bound && own.note.find("load") != std::string::npos) {
    own.note += detail::kStateCpus;
  }
}

}  // namespace

std::vector<ChainBound> detail::bounds_of_chains(const model::Application& application,
                                                 const model::ExecutorChoice& executor,
                                                 const Overheads& overheads, Effort effort,
                                                 std::span<const std::size_t> chains,
                                                 bool& gave_up) {
  if (!application.hosts.empty()) {
    std::vector<ChainBound> all = NetworkBounds(application, executor, overheads, effort).chains();
    std::vector<ChainBound> chosen;
    for (const std::size_t chain : chains) {
      chosen.push_back(std::move(all.at(chain)));
    }
    return chosen;
  }
  const PreemptiveForm form(application, executor);
  const Analysed with{form.kind(), executor, overheads, effort};
  std::vector<ChainBound> result = bounds_on_cpus(form.application(), with, chains, gave_up);
  const std::vector<Placement> anywhere = placements(form.application(), executor, overheads);
  if (!anywhere.empty()) {
    auto found = bounds_on_any_cpus(anywhere, with, chains, gave_up);
    for (std::size_t i = 0; i < result.size(); ++i) {
      prefer_any_cpus(result[i], std::move(found[i]), overheads.cpus > 0);
    }
  }
  return result;
}

std::vector<ChainBound> chain_bounds(const model::Application& application,
                                     const model::ExecutorChoice& executor,
                                     const Overheads& overheads, Effort effort) {
  std::vector<std::size_t> all(application.chains.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  bool gave_up = false;
  return detail::bounds_of_chains(application, executor, overheads, effort, all, gave_up);
}

namespace {

std::vector<QueueBound> queues_on_cpus(const model::Application& form, const Analysed& with) {
  std::vector<QueueBound> result =
      detail::queues_of_form(form, with.kind, with.executor, with.overheads, with.effort);
  if (const auto apart = separate_lanes(form, with.executor)) {
    const auto others = detail::queues_of_form(
        *apart, with.kind, with.executor,
        detail::separate_overheads(with.overheads, form, with.executor), with.effort);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (others[i].pending && (!result[i].pending || *others[i].pending < *result[i].pending)) {
        result[i].pending = others[i].pending;
      }
    }
  }
  return result;
}

}  // namespace

std::vector<QueueBound> queue_bounds(const model::Application& application,
                                     const model::ExecutorChoice& executor,
                                     const Overheads& overheads, Effort effort) {
  if (!application.hosts.empty()) {
    return detail::NetworkBounds(application, executor, overheads, effort).queues();
  }
  const detail::PreemptiveForm form(application, executor);
  const Analysed with{form.kind(), executor, overheads, effort};
  const auto anywhere = detail::placements(form.application(), executor, overheads);
  if (anywhere.empty()) {
    return queues_on_cpus(form.application(), with);
  }
  std::vector<QueueBound> result = queues_on_cpus(anywhere.front().application, with);
  for (std::size_t other = 1; other < anywhere.size(); ++other) {
    const auto found = queues_on_cpus(anywhere[other].application, with);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i].pending = detail::larger(result[i].pending, found[i].pending);
    }
  }
  return result;
}

}  // namespace rclrt::analysis
