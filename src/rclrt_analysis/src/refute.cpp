// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/refute.hpp"

#include <algorithm>
#include <iterator>
#include <rclrt/text/duration.hpp>
#include <stdexcept>
#include <utility>

namespace rclrt::analysis {

namespace {

std::string note_of(const model::Application& application, const CounterExample& example) {
  if (example.never_runs) {
    return "may never run: '" + application.callbacks[*example.never_runs].id +
           "' waits in simulation, and it has not run " +
           text::duration_text(example.response_ns, 6) + " after the first release";
  }
  return "misses in simulation: released at " + text::duration_text(example.release_ns) +
         ", it takes " + text::duration_text(example.response_ns);
}

bool is_unknown(const ChainBound& chain) { return chain.verdict == Verdict::kUnknown; }

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
  std::vector<ChainBound>& chains = result.judgement.chains;
  result.examples.resize(chains.size());
  std::vector<bool> wanted;
  std::ranges::transform(chains, std::back_inserter(wanted), is_unknown);
  if (std::ranges::find(wanted, true) == wanted.end()) {
    return result;
  }
  try {
    result.examples = find_counter_examples(application, wanted, search);
  } catch (const std::invalid_argument& error) {  // more CPUs than the simulator has, for example
    result.not_searched = error.what();
    return result;
  }
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (const auto& example = result.examples[i]) {
      chains[i].verdict = Verdict::kRefuted;
      chains[i].note = note_of(application, *example);
    }
  }
  if (std::ranges::any_of(chains, is_unknown)) {
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
