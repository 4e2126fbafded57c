// SPDX-License-Identifier: Apache-2.0
// Callbacks that starved in executors of several threads, and how such executors are analysed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "model_builder.hpp"

namespace rclrt::trace {

namespace {

constexpr std::size_t kMostNamed = 10;

std::string seconds(std::int64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

}  // namespace

void ModelBuilder::find_starved() {
  starvation_ = find_starvation(system_, lives_, pools_, group_of_);
  if (!starvation_.stopped.empty()) {
    // Their last waits had other reasons, so they show no group.
    find_groups();
    starvation_ = find_starvation(system_, lives_, pools_, group_of_);
  }
}

/// Returns the name of a callback in the model, in quotes; for one that the model leaves out, what
/// it is.
std::string ModelBuilder::quoted_name(std::uint32_t traced) const {
  if (model_.callback_of[traced] != kNone) {
    return "'" + application_.callbacks[model_.callback_of[traced]].id + "'";
  }
  const TracedCallback& callback = callback_at(traced);
  const std::string node =
      callback.node == kNone ? "no node" : full_name(system_.nodes()[callback.node]);
  if (callback.kind == TriggerKind::kTimer) {
    return "a timer of " + node + " (" + std::to_string(callback.period_ns / 1'000'000) + " ms)";
  }
  const bool has_topic = !callback.inputs.empty() && callback.inputs.front().topic != kNone;
  return (has_topic ? "the callback for " + system_.topic(callback.inputs.front().topic)
                    : std::string("a callback")) +
         " of " + node;
}

std::string ModelBuilder::starvation_text(const Starvation& starved) const {
  const Wait& wait = starved.wait;
  const std::int64_t waited_ns = wait.to_ns - wait.from_ns;
  std::string text = "callback " + quoted_name(wait.callback) + " starved: due " +
                     seconds(wait.from_ns - system_.first_run_ns()) + " after the first run, it " +
                     (wait.next != nullptr ? "began only " : "had not begun ") +
                     seconds(waited_ns) + " later (" +
                     std::to_string(waited_ns / starved.period_ns) + " of its periods); ";
  if (starved.times > 1) {
    text += "it starved " + std::to_string(starved.times) + " times, this is the longest; ";
  }
  text += "meanwhile " + quoted_name(starved.overtaker) +
          (starved.is_of_its_group ? " of its group" : "") + " began " +
          std::to_string(starved.overtakes) +
          " times, and a thread of the executor ran no callback for " + seconds(starved.free_ns);
  if (starved.is_forgotten) {
    return text + ", and no callback of its group for " + seconds(starved.open_ns) +
           " of it: rclcpp's MultiThreadedExecutor may leave out a group for good "
           "(https://github.com/ros2/rclcpp/issues/3240)";
  }
  if (starved.is_of_its_group) {
    text +=
        ": a wait set of several threads, as that of rclcpp's MultiThreadedExecutor, leaves out a "
        "group that is busy when it collects what is ready "
        "(https://github.com/ros2/rclcpp/issues/2645)";
  }
  return text;
}

void ModelBuilder::note_starvation() {
  for (const Starvation& starved : starvation_.starved) {
    if (model_.callback_of[starved.wait.callback] == kNone) {
      continue;
    }
    model_.notes.push_back(starvation_text(starved));
    if (runs_[starved.wait.callback].count == 0) {
      const std::string id = quoted_name(starved.wait.callback);
      model_.notes.push_back("callback " + id +
                             " never ran: its wcet_ms of 0.001 stands for a time that is not "
                             "known, state it");
    }
  }
  if (!starvation_.is_complete) {
    model_.notes.push_back(
        "the search for callbacks that starved has ended early, because the trace has too many "
        "waits: record a shorter time");
  }
  std::string stopped;
  std::size_t count = 0;
  for (const auto& [callback, since_ns] : starvation_.stopped) {
    if (++count <= kMostNamed) {
      stopped += (stopped.empty() ? "" : ", ") + quoted_name(callback) + " since " +
                 seconds(since_ns - system_.first_run_ns());
    }
  }
  if (count > kMostNamed) {
    stopped += " and " + std::to_string(count - kMostNamed) + " more";
  }
  if (count > 0) {
    model_.notes.push_back(
        std::to_string(count) + (count == 1 ? " callback" : " callbacks") +
        " did not run any more, although a thread and the group were free: " + stopped +
        " after the first run. Cancelled timers and destroyed subscriptions look like that, and "
        "groups that rclcpp's MultiThreadedExecutor left out for good "
        "(https://github.com/ros2/rclcpp/issues/3240)");
  }
}

/// States the threads and CPUs of executors that are not in the trace themselves, and how they are
/// analysed: as rclcpp's MultiThreadedExecutor.
void ModelBuilder::note_pools() {
  std::map<std::size_t, std::set<int>> cpus;
  for (const TracedInstance& run : system_.instances()) {
    const std::uint32_t callback = lives_.callback_of[run.callback];
    const std::uint32_t executor = executor_of_[callback];
    if (executor != kNone && callback_at(callback).executor == kNone) {
      cpus[executor].insert(run.first_cpu);  // allowed_cpus() removes kUnknownCpu
    }
  }
  for (const std::uint32_t traced : system_.first_runs()) {
    const std::uint32_t callback = lives_.callback_of[traced];
    const std::uint32_t executor = executor_of_[callback];
    if (executor != kNone && callback_at(callback).executor == kNone) {
      const std::set<int>& seen = system_.totals()[traced].cpus;
      cpus[executor].insert(seen.begin(), seen.end());
    }
  }
  std::size_t fewest = SIZE_MAX;  // one number for all, so that no bound is too low
  for (const auto& [executor, seen] : cpus) {
    if (threads_of_[executor] < 2) {
      continue;
    }
    fewest = std::min(fewest, threads_of_[executor]);
    model::Executor& of = application_.executors[executor];
    of.cpus = allowed_cpus({seen.begin(), seen.end()});
    model_.notes.push_back("executor '" + of.name + "' ran callbacks on " +
                           std::to_string(threads_of_[executor]) +
                           " threads, as rclcpp's MultiThreadedExecutor does" +
                           (of.cpus.empty() ? ": state its CPUs (cpus), they are not in the trace"
                                            : ": its CPUs are those on which callbacks began"));
  }
  if (fewest != SIZE_MAX) {
    model_.proposals.insert(model_.proposals.begin(),
                            "Threads drew callbacks from one wait set: rclrt analyze FILE "
                            "--executor wait_set:threads=" +
                                std::to_string(fewest));
  }
}

}  // namespace rclrt::trace
