// SPDX-License-Identifier: Apache-2.0
#include "bounds/form_bounds.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "bounds/chosen_chains.hpp"
#include "bounds/global_bounds.hpp"
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

/// Returns detail::with_separate_lanes() if no callback waits.
std::optional<model::Application> separate_lanes(const model::Application& form,
                                                 const model::ExecutorChoice& executor) {
  const bool waits = std::ranges::any_of(
      form.callbacks, [](const model::Callback& each) { return each.waits.count() > 0; });
  return waits ? std::nullopt : detail::with_separate_lanes(form, executor);
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

namespace detail {

PlacedBounds::OnCpus::OnCpus(const model::Application& form, const Analysed& with)
    : overheads_(with.overheads),
      own_(form, with.kind, with.executor, with.overheads, with.effort),
      apart_(separate_lanes(form, with.executor)) {
  if (apart_) {
    of_apart_.emplace(*apart_, with.kind, with.executor,
                      separate_overheads(with.overheads, form, with.executor), with.effort);
  }
}

std::vector<ChainBound> PlacedBounds::OnCpus::chains(std::span<const std::size_t> chains,
                                                     bool& gave_up) {
  std::vector<ChainBound> result = own_.chains(chains, gave_up);
  if (of_apart_) {
    auto others = of_apart_->chains(chains, gave_up);
    for (std::size_t i = 0; i < result.size(); ++i) {
      assume_no_handover(overheads_, others[i]);
      keep_lower(result[i], std::move(others[i]));
    }
  }
  return result;
}

std::vector<QueueBound> PlacedBounds::OnCpus::queues() {
  std::vector<QueueBound> result = own_.queues();
  if (of_apart_) {
    const auto others = of_apart_->queues();
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (others[i].pending && (!result[i].pending || *others[i].pending < *result[i].pending)) {
        result[i].pending = others[i].pending;
      }
    }
  }
  return result;
}

PlacedBounds::PlacedBounds(const model::Application& application,
                           const model::ExecutorChoice& executor, const Overheads& overheads,
                           Effort effort)
    : form_(application, executor),
      with_{form_.kind(), executor, overheads, effort},
      placements_(placements(form_.application(), executor, overheads)) {}

PlacedBounds::OnCpus& PlacedBounds::as_stated() {
  return as_stated_ ? *as_stated_ : as_stated_.emplace(form_.application(), with_);
}

PlacedBounds::OnCpus& PlacedBounds::placed(std::size_t placement) {
  while (placed_.size() <= placement) {
    placed_.emplace_back(placements_[placed_.size()].application, with_);
  }
  return placed_[placement];
}

/// Returns the bounds that hold wherever executors that state no CPUs may run: one for each chain.
std::vector<ChainBound> PlacedBounds::chains_anywhere(std::span<const std::size_t> chains,
                                                      bool& gave_up) {
  std::vector<std::vector<ChainBound>> by_chain(chains.size());
  for (std::size_t one = 0; one < placements_.size(); ++one) {
    std::vector<ChainBound> found = placed(one).chains(chains, gave_up);
    for (std::size_t i = 0; i < found.size(); ++i) {
      assume_more_cpus(placements_[one], with_.overheads, found[i]);
      by_chain[i].push_back(std::move(found[i]));
    }
  }
  std::vector<ChainBound> result;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const model::Chain& chain = placements_.front().application.chains[chains[i]];
    result.push_back(largest_of(chain, std::move(by_chain[i])));
  }
  return result;
}

std::vector<ChainBound> PlacedBounds::chains(std::span<const std::size_t> chains, bool& gave_up) {
  std::vector<ChainBound> result = as_stated().chains(chains, gave_up);
  if (!placements_.empty()) {
    auto found = chains_anywhere(chains, gave_up);
    for (std::size_t i = 0; i < result.size(); ++i) {
      prefer_any_cpus(result[i], std::move(found[i]), with_.overheads.cpus > 0);
    }
  }
  return result;
}

std::vector<ChainBound> PlacedBounds::chains() {
  std::vector<std::size_t> all(form_.application().chains.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  bool gave_up = false;
  return chains(all, gave_up);
}

std::vector<QueueBound> PlacedBounds::queues() {
  if (placements_.empty()) {
    return as_stated().queues();
  }
  std::vector<QueueBound> result = placed(0).queues();
  for (std::size_t other = 1; other < placements_.size(); ++other) {
    const auto found = placed(other).queues();
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i].pending = larger(result[i].pending, found[i].pending);
    }
  }
  return result;
}

std::vector<ChainBound> bounds_of_chains(const model::Application& application,
                                         const model::ExecutorChoice& executor,
                                         const Overheads& overheads, Effort effort,
                                         std::span<const std::size_t> chains, bool& gave_up) {
  if (!application.hosts.empty()) {
    std::vector<ChainBound> all = NetworkBounds(application, executor, overheads, effort).chains();
    std::vector<ChainBound> chosen;
    for (const std::size_t chain : chains) {
      chosen.push_back(std::move(all.at(chain)));
    }
    return chosen;
  }
  return PlacedBounds(application, executor, overheads, effort).chains(chains, gave_up);
}

}  // namespace detail

std::vector<ChainBound> chain_bounds(const model::Application& application,
                                     const model::ExecutorChoice& executor,
                                     const Overheads& overheads, Effort effort) {
  if (!application.hosts.empty()) {
    return detail::NetworkBounds(application, executor, overheads, effort).chains();
  }
  return detail::PlacedBounds(application, executor, overheads, effort).chains();
}

std::vector<QueueBound> queue_bounds(const model::Application& application,
                                     const model::ExecutorChoice& executor,
                                     const Overheads& overheads, Effort effort) {
  if (!application.hosts.empty()) {
    return detail::NetworkBounds(application, executor, overheads, effort).queues();
  }
  return detail::PlacedBounds(application, executor, overheads, effort).queues();
}

}  // namespace rclrt::analysis
