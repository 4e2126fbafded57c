// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/refute.hpp"

#include <algorithm>
#include <iterator>
#include <rclrt/model/no_deadline.hpp>
#include <rclrt/text/duration.hpp>
#include <stdexcept>
#include <utility>

namespace rclrt::analysis {

namespace {

/// Returns the time of the release, from the start of the application.
std::string release_of(const CounterExample& example) {
  return example.begin_ns == 0 ? text::duration_text(example.release_ns)
                               : clock_text(example.begin_ns + example.release_ns);
}

std::string note_of(const model::Application& application, const CounterExample& example) {
  if (example.limit == Limit::kReaction) {
    return "reacts too late in simulation: what happens at " + release_of(example) +
           " has no reaction for " + text::duration_text(example.response_ns);
  }
  if (example.limit == Limit::kAge) {
    return "uses old data in simulation: released at " + release_of(example) + ", they are " +
           text::duration_text(example.response_ns) + " old at an output";
  }
  if (example.never_runs) {
    return "may never run: '" + application.callbacks[*example.never_runs].id +
           "' waits in simulation, and it has not run " +
           text::duration_text(example.response_ns, 6) + " after the first release";
  }
  return "misses in simulation: released at " + release_of(example) + ", it takes " +
         text::duration_text(example.response_ns);
}

/// Returns whether a schedule may refute each chain: it has a limit, and no proof.
Wanted wanted_chains(const model::Application& application, const Judgement& judgement) {
  Wanted wanted;
  for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
    wanted.chains.push_back(judgement.chains[i].verdict == Verdict::kUnknown &&
                            model::has_deadline(application, i));
  }
  for (std::size_t i = 0; i < judgement.cause_effect_chains.size(); ++i) {
    const model::CauseEffectChain& chain = application.cause_effect_chains[i];
    wanted.cause_effect_chains.push_back(judgement.cause_effect_chains[i].verdict ==
                                             Verdict::kUnknown &&
                                         (chain.max_reaction || chain.max_age));
  }
  return wanted;
}

bool wants_any(const Wanted& wanted) {
  return std::ranges::find(wanted.chains, true) != wanted.chains.end() ||
         std::ranges::find(wanted.cause_effect_chains, true) != wanted.cause_effect_chains.end();
}

/// Marks what has a counter-example as refuted.
template <typename Bounds>
void mark(const model::Application& application,
          const std::vector<std::optional<CounterExample>>& examples, Bounds& bounds) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (const auto& example = examples[i]) {
      bounds[i].verdict = Verdict::kRefuted;
      bounds[i].note = note_of(application, *example);
    }
  }
}

/// Returns the names of the overheads that simulate() leaves out.
std::vector<std::string> not_simulated(const Overheads& overheads) {
  std::vector<std::string> names;
  if (overheads.background > 0) {
    names.emplace_back("background");
  }
  if (overheads.stall > 0) {
    names.emplace_back("stall");
  }
  if (overheads.handover > 0) {
    names.emplace_back("handover");
  }
  return names;
}

}  // namespace

Refutation refute(const model::Application& application, Judgement judgement,
                  const Search& search) {
  Refutation result{
      .judgement = std::move(judgement), .examples = {}, .not_searched = {}, .left_out = {}};
  Judgement& judged = result.judgement;
  result.examples.resize(judged.chains.size());
  result.cause_effect_examples.resize(judged.cause_effect_chains.size());
  const Wanted wanted = wanted_chains(application, judged);
  if (!wants_any(wanted)) {
    return result;
  }
  try {
    SearchResult found = search_schedules(application, wanted, search);
    result.examples = std::move(found.examples);
    result.cause_effect_examples = std::move(found.cause_effect_examples);
  } catch (const std::invalid_argument& error) {  // more CPUs than the simulator has, for example
    result.not_searched = error.what();
    return result;
  }
  mark(application, result.examples, judged.chains);
  mark(application, result.cause_effect_examples, judged.cause_effect_chains);
  if (wants_any(wanted_chains(application, judged))) {
    result.left_out = not_simulated(search.overheads);
  }
  return result;
}

TaskRefutation refute(std::span<const Task> tasks, Policy policy, TaskSetResult result,
                      const SearchEffort& effort) {
  TaskRefutation refuted{.result = std::move(result), .examples = {}};
  refuted.examples.resize(tasks.size());
  std::vector<bool> wanted;
  for (const TaskResult& task : refuted.result.tasks) {
    wanted.push_back(task.schedulable != Answer::kYes);
  }
  if (std::ranges::find(wanted, true) == wanted.end()) {
    return refuted;
  }
  refuted.examples = find_counter_examples(tasks, policy, wanted, effort);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (refuted.examples[i]) {
      refuted.result.tasks[i].schedulable = Answer::kNo;
      refuted.result.schedulable = Answer::kNo;
    }
  }
  return refuted;
}

}  // namespace rclrt::analysis
