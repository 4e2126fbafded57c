// SPDX-License-Identifier: Apache-2.0
#include "bounds/form_bounds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "bounds/chosen_chains.hpp"
#include "bounds/preemptive_form.hpp"
#include "bounds/separate_lanes.hpp"
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

/// Returns whether the messages of a chain may come to a synchroniser later than others that are
/// published after them: each input waits for the thread that forms the next ready set.
bool may_be_overtaken(const model::Application& application, const model::ExecutorChoice& executor,
                      const model::Chain& chain) {
  return traits(executor).runs_sets && executor.threads > 1 &&
         std::ranges::any_of(chain.callbacks, [&](std::size_t callback) {
           return application.callbacks[callback].kind() == model::CallbackKind::kSync;
         });
}

void remove_bound(ChainBound& bound) {
  const int level = bound.level;
  bound = {};
  bound.level = level;
  bound.note =
      "no bound is offered for a synchroniser under a wait set of several threads: it may take a "
      "later message of another input first";
}

}  // namespace

std::vector<ChainBound> detail::bounds_of_chains(const model::Application& application,
                                                 const model::ExecutorChoice& executor,
                                                 const Overheads& overheads, Effort effort,
                                                 std::span<const std::size_t> chains,
                                                 bool& gave_up) {
  const PreemptiveForm form(application, executor);
  std::vector<ChainBound> result =
      bounds_of_form(form.application(), form.kind(), executor, overheads, effort, chains, gave_up);
  if (const auto apart = with_separate_lanes(form.application(), executor)) {
    auto others = bounds_of_form(*apart, form.kind(), executor,
                                 separate_overheads(overheads, application, executor), effort,
                                 chains, gave_up);
    for (std::size_t i = 0; i < result.size(); ++i) {
      assume_no_handover(overheads, others[i]);
      keep_lower(result[i], std::move(others[i]));
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (may_be_overtaken(application, executor, application.chains[chains[i]])) {
      remove_bound(result[i]);
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

std::vector<QueueBound> queue_bounds(const model::Application& application,
                                     const model::ExecutorChoice& executor,
                                     const Overheads& overheads, Effort effort) {
  const detail::PreemptiveForm form(application, executor);
  std::vector<QueueBound> result =
      detail::queues_of_form(form.application(), form.kind(), executor, overheads, effort);
  if (const auto apart = detail::with_separate_lanes(form.application(), executor)) {
    const auto others = detail::queues_of_form(
        *apart, form.kind(), executor, detail::separate_overheads(overheads, application, executor),
        effort);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (others[i].pending && (!result[i].pending || *others[i].pending < *result[i].pending)) {
        result[i].pending = others[i].pending;
      }
    }
  }
  return result;
}

}  // namespace rclrt::analysis
