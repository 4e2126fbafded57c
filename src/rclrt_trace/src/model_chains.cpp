// SPDX-License-Identifier: Apache-2.0
// Cycles, execution times and chains of a traced model.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include "model_builder.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::trace {

namespace {

constexpr int kHighestPriority = 1'000'000;  // the model's limit

/// Finds an edge that closes a cycle. Returns the callback to which it leads; none without a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const model::Application& application)
      : application_(application), state_(application.callbacks.size(), State::kNew) {}

  std::optional<std::size_t> find() {
    // Begins at timers and events, so that the edge that is cut leads back.
    for (const bool spontaneous : {true, false}) {
      for (std::size_t i = 0; i < state_.size(); ++i) {
        if (application_.callbacks[i].takes_messages() != spontaneous) {
          if (const auto found = visit(i)) {
            return found;
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  enum class State { kNew, kOpen, kDone };

  std::optional<std::size_t> visit(std::size_t callback) {
    if (state_[callback] != State::kNew) {
      return std::nullopt;
    }
    state_[callback] = State::kOpen;
    for (const std::size_t next : application_.successors(callback)) {
      if (state_[next] == State::kOpen) {
        return next;
      }
      if (const auto found = visit(next)) {
        return found;
      }
    }
    state_[callback] = State::kDone;
    return std::nullopt;
  }

  const model::Application& application_;
  std::vector<State> state_;
};

}  // namespace

void ModelBuilder::collect_runs() {
  runs_.resize(system_.callbacks().size());
  if (system_.streams()) {
    return collect_totals();
  }
  for (const TracedInstance& instance : system_.instances()) {
    runs_[lives_.callback_of[instance.callback]].has_cpu_times |= instance.scheduled;
  }
  for (const TracedInstance& instance : system_.instances()) {
    Runs& runs = runs_[lives_.callback_of[instance.callback]];
    ++runs.count;
    runs.times.push_back({instance.start_ns, instance.end_ns, instance.callback, instance.sent_ns});
    runs.threads.insert(instance.thread);
    runs.longest_run_ns = std::max(runs.longest_run_ns, instance.end_ns - instance.start_ns);
    if (instance.scheduled || !runs.has_cpu_times) {
      runs.durations.push_back(execution_time_ns(instance));
      runs.longest_wait_ns = std::max(runs.longest_wait_ns, instance.waited_ns);
    }
  }
  for (Runs& runs : runs_) {
    std::ranges::sort(runs.times, {}, &Run::start_ns);
    runs.execution_times = recorder::summarise(std::move(runs.durations));
  }
}

/// Collects the same from the totals of a long trace.
void ModelBuilder::collect_totals() {
  std::vector<std::optional<recorder::TimeDistribution>> times(runs_.size());
  for (const std::uint32_t callback : system_.first_runs()) {
    runs_[lives_.callback_of[callback]].has_cpu_times |= system_.totals()[callback].cpu.has_value();
  }
  for (const std::uint32_t callback : system_.first_runs()) {
    const RunTotals& totals = system_.totals()[callback];
    const std::uint32_t life = lives_.callback_of[callback];
    Runs& runs = runs_[life];
    runs.count += totals.runs;
    runs.longest_run_ns = std::max(runs.longest_run_ns, totals.longest_run_ns);
    runs.longest_wait_ns =
        std::max(runs.longest_wait_ns,
                 runs.has_cpu_times ? totals.longest_wait_ns : totals.longest_other_wait_ns);
    for (const auto& [thread, span] : totals.threads) {
      runs.threads.insert(thread);
    }
    if (const auto& own = runs.has_cpu_times ? totals.cpu : totals.wall) {
      if (!times[life]) {
        times[life].emplace();
      }
      times[life]->add(*own);
    }
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (times[i]) {
      runs_[i].execution_times = times[i]->summary();
    }
  }
}

void ModelBuilder::break_cycles() {
  while (const auto found = CycleSearch(application_).find()) {
    model::Callback& callback = application_.callbacks[*found];
    model_.notes.push_back("callback '" + callback.id +
                           "' is on a cycle of messages: the model has it as an event, with the "
                           "intervals of the trace");
    callback.trigger = event_of(traced_of_[*found]);
    callback.routes.clear();
    model_.stands_for_other[*found] = true;
  }
}

/// Returns the priority in the model for each priority in the trace. It is the same number if the
/// model allows it; otherwise its rank among the priorities.
std::map<int, int> ModelBuilder::priorities_in_model() const {
  std::map<int, int> result;
  for (const std::uint32_t traced : traced_of_) {
    if (const auto priority = callback_at(traced).priority) {
      result[*priority] = *priority;
    }
  }
  if (!result.empty() && (result.begin()->first < 0 || result.rbegin()->first > kHighestPriority)) {
    int rank = 0;
    for (auto& [traced, priority] : result) {
      priority = rank++;
    }
  }
  return result;
}

void ModelBuilder::add_timing() {
  const std::map<int, int> priorities = priorities_in_model();
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const Runs& runs = runs_[traced_of_[i]];
    const TracedCallback& traced = callback_at(traced_of_[i]);
    model::Callback& callback = application_.callbacks[i];
    const auto time = [](std::int64_t ns) {
      return model::Nanoseconds(std::min(ns, kLongestTime));
    };
    if (traced.priority) {
      callback.priority = priorities.at(*traced.priority);
    }
    if (traced.deadline_ns > 0) {
      callback.deadline = time(traced.deadline_ns);
    }
    if (!runs.execution_times) {  // it starved
      callback.wcet = model::Nanoseconds(kShortestTime);
      continue;
    }
    callback.observed = model::ObservedTimes{.n = runs.execution_times->count,
                                             .p50 = time(runs.execution_times->p50_ns),
                                             .p99 = time(runs.execution_times->p99_ns),
                                             .max = time(runs.execution_times->worst_ns)};
    callback.wcet = callback.observed->max;
  }
  note_times();
  add_groups();
}

void ModelBuilder::note_times() {
  std::size_t without = 0;
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const Runs& runs = runs_[traced_of_[i]];
    without += runs.has_cpu_times || runs.count == 0 ? 0 : 1;
    if (runs.longest_wait_ns >= kNotedWait_ns) {
      std::array<char, 32> milliseconds{};
      std::snprintf(milliseconds.data(), milliseconds.size(), "%.1f",
                    static_cast<double>(runs.longest_wait_ns) / 1e6);
      model_.notes.push_back("callback '" + application_.callbacks[i].id + "' waited for up to " +
                             milliseconds.data() +
                             " ms in a run: that is no part of its execution time, and bounds "
                             "assume that no callback waits");
    }
  }
  if (without > 0) {
    model_.notes.push_back("execution times of " + std::to_string(without) +
                           (without == 1 ? " callback are" : " callbacks are") +
                           " wall time, with what preempted them: the trace does not say when "
                           "their threads had a CPU");
  }
}

void ModelBuilder::add_chains() {
  for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
    if (!application_.callbacks[i].takes_messages()) {
      std::vector<std::size_t> way{i};
      add_chains_from(i, way);
    }
  }
  add_chains_to_variables();
  if (ways_left_out_ > 0) {
    model_.notes.push_back("more than " + std::to_string(kMostChains) +
                           " ways lead from timers and events to sinks: chains are those of the "
                           "first, state the ones that matter");
  }
  // Without priorities in the trace: deadline monotonic, a shorter deadline is more urgent.
  std::set<model::Nanoseconds, std::greater<>> deadlines;
  for (const model::Chain& chain : application_.chains) {
    deadlines.insert(chain.deadline);
  }
  for (model::Chain& chain : application_.chains) {
    const bool stated = std::ranges::all_of(chain.callbacks, [&](std::size_t callback) {
      return application_.callbacks[callback].priority.has_value();
    });
    chain.priority =
        static_cast<int>(std::distance(deadlines.begin(), deadlines.find(chain.deadline)) + 1);
    if (stated) {
      chain.priority = 0;
      for (const std::size_t callback : chain.callbacks) {
        chain.priority = std::max(chain.priority, *application_.callbacks[callback].priority);
      }
    }
  }
  add_sampling_chains();
}

void ModelBuilder::add_chains_from(std::size_t source, std::vector<std::size_t>& way) {
  if (application_.chains.size() >= kMostChains) {
    ++ways_left_out_;
    return;
  }
  const std::size_t before = application_.chains.size();
  for (const std::size_t next : application_.successors(way.back())) {
    way.push_back(next);
    // Routes may block every message on this path.
    const auto entries = application_.entries({.id = "", .callbacks = way});
    if (!entries.back().empty()) {
      add_chains_from(source, way);
    }
    way.pop_back();
  }
  if (application_.chains.size() == before) {
    add_chain(way);
  }
}

void ModelBuilder::add_chain(const std::vector<std::size_t>& way) {
  const std::string& first = application_.callbacks[way.front()].id;
  const std::string& last = application_.callbacks[way.back()].id;
  model::Chain chain{.id = chain_names_.unique(way.size() == 1 ? first : first + "_to_" + last),
                     .callbacks = way};
  chain.deadline = application_.period(chain);
  application_.chains.push_back(std::move(chain));
}

}  // namespace rclrt::trace
