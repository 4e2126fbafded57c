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

/// From this length on, a wait within a run is noted and is not part of the execution time.
constexpr std::int64_t kNotedWait_ns = 500'000;

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
  for (const TracedInstance& instance : system_.instances()) {
    runs_[lives_.callback_of[instance.callback]].has_cpu_times |= instance.scheduled;
  }
  for (const TracedInstance& instance : system_.instances()) {
    Runs& runs = runs_[lives_.callback_of[instance.callback]];
    runs.times.push_back({instance.start_ns, instance.end_ns, instance.callback, instance.sent_ns});
    runs.threads.insert(instance.thread);
    if (instance.scheduled || !runs.has_cpu_times) {
      // A short wait, such as for a lock of the middleware, is part of the execution time.
      const bool is_noted = instance.waited_ns >= kNotedWait_ns;
      runs.durations.push_back(instance.cpu_ns() +
                               (instance.scheduled && !is_noted ? instance.waited_ns : 0));
      runs.longest_wait_ns = std::max(runs.longest_wait_ns, instance.waited_ns);
    }
  }
  for (Runs& runs : runs_) {
    std::ranges::sort(runs.times, {}, &Run::start_ns);
    std::ranges::sort(runs.durations);
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
    if (runs.times.empty()) {  // it starved
      callback.wcet = model::Nanoseconds(kShortestTime);
      continue;
    }
    callback.observed =
        model::ObservedTimes{.n = runs.durations.size(),
                             .p50 = time(recorder::nearest_rank(runs.durations, 50)),
                             .p99 = time(recorder::nearest_rank(runs.durations, 99)),
                             .max = time(runs.durations.back())};
    callback.wcet = callback.observed->max;
  }
  note_times();
  add_groups();
}

void ModelBuilder::note_times() {
  std::size_t without = 0;
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const Runs& runs = runs_[traced_of_[i]];
    without += runs.has_cpu_times || runs.times.empty() ? 0 : 1;
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
