// SPDX-License-Identifier: Apache-2.0
// Notes on what a trace does not contain.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "model_builder.hpp"
#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::trace {

/// Names the nodes that have no callback at all in the trace.
void ModelBuilder::note_silent_nodes() {
  std::set<std::int64_t> heard;
  for (const TracedCallback& callback : system_.callbacks()) {
    heard.insert(callback.process);
  }
  std::map<std::int64_t, std::string> silent;
  for (const TracedNode& node : system_.nodes()) {
    if (!heard.contains(node.process)) {
      std::string& names = silent[node.process];
      names += (names.empty() ? "" : ", ") + node.name;
    }
  }
  for (const auto& [process, names] : silent) {
    model_.notes.push_back(
        "process " + std::to_string(system_.processes()[static_cast<std::size_t>(process)].pid) +
        " (" + names +
        ") has nodes without any callback in the trace, as those of rclpy, which "
        "has no events of them: left out");
  }
}

/// Names the timers that may publish data which their nodes received before. No event shows this.
void ModelBuilder::note_republishing() {
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    std::string ids;
    for (const std::size_t taker : may_read(i)) {
      ids += (ids.empty() ? "" : ", ") + application_.callbacks[taker].id;
    }
    if (!ids.empty()) {
      model_.notes.push_back("timer " + application_.callbacks[i].id + " may publish what " + ids +
                             " took: its messages begin new chains, for no event says which");
    }
  }
}

/// Names the threads that publish outside of callbacks: the model does not have their work.
void ModelBuilder::note_outside_work() {
  std::map<std::uint32_t, std::pair<std::string, std::uint64_t>> work;  // by thread
  for (const OutsideWork& each : system_.outside_work()) {
    if (!model::is_tool_topic(system_.topic(each.topic))) {
      auto& [topics, count] = work[each.thread];
      topics += (topics.empty() ? "" : ", ") + system_.topic(each.topic);
      count += each.count;
    }
  }
  for (const auto& [thread, what] : work) {
    const TracedThread& of = system_.threads()[thread];
    model_.notes.push_back(
        "thread " + std::to_string(of.tid) + (of.name.empty() ? "" : " ('" + of.name + "')") +
        " of process " +
        std::to_string(system_.processes()[static_cast<std::size_t>(of.process)].pid) +
        " published " + std::to_string(what.second) +
        (what.second == 1 ? " message on " : " messages on ") + what.first +
        " outside of callbacks (as the thread of an action, a driver or a main program): what it "
        "computes, and the load of it, is in no model");
  }
}

/// Notes the CPU time of threads without callbacks: the model does not have it.
void ModelBuilder::note_other_threads() {
  for (const OtherThreads& each : system_.other_threads()) {
    const std::int64_t seen_ns = std::max<std::int64_t>(system_.observed_ns(), 1);
    const std::int64_t percent = each.cpu_ns / std::max<std::int64_t>(seen_ns / 100, 1);
    if (percent == 0) {
      continue;
    }
    model_.notes.push_back(
        std::to_string(each.threads) + (each.threads == 1 ? " thread" : " threads") +
        " of process " +
        std::to_string(system_.processes()[static_cast<std::size_t>(each.process)].pid) +
        " that ran no callback (of the middleware, of an action, of a driver) had " +
        std::to_string(percent) + " % of a CPU: no model has their load");
  }
}

/// Names the services of tools that ran: they are not part of the robot's regular work.
void ModelBuilder::note_tool_services() {
  std::size_t services = 0;
  std::size_t runs = 0;
  std::int64_t longest_ns = 0;
  std::string example;
  for (std::uint32_t i = 0; i < lives_.callbacks.size(); ++i) {
    const TracedCallback& callback = callback_at(i);
    if (callback.kind != TriggerKind::kService || runs_[i].count == 0 || !is_of_tools(i)) {
      continue;
    }
    ++services;
    runs += runs_[i].count;
    if (runs_[i].longest_run_ns >= longest_ns) {
      longest_ns = runs_[i].longest_run_ns;
      example = callback.name;
    }
  }
  if (services > 0) {
    model_.notes.push_back(std::to_string(runs) + (runs == 1 ? " run" : " runs") + " of " +
                           std::to_string(services) + (services == 1 ? " service" : " services") +
                           " for tools (parameters, loading of nodes, "
                           "lifecycles; the longest: " +
                           example + ", " + std::to_string(longest_ns / 1'000) +
                           " us) are left out: while one runs, it delays what shares its executor");
  }
}

/// States which parts of the model of a long trace come from its latest runs only.
void ModelBuilder::note_streaming() {
  if (!system_.streams()) {
    return;
  }
  std::uint64_t runs = 0;
  for (const Runs& each : runs_) {
    runs += each.count;
  }
  model_.notes.push_back(
      "the trace has " + std::to_string(runs) + " runs of callbacks, of which the latest " +
      std::to_string(system_.instances().size()) + " (since " +
      std::to_string((system_.kept_since_ns() - system_.first_run_ns()) / 1'000'000'000) +
      " s after the first run) show waits, starvation and equal stamps; everything else is that of "
      "all runs, with percentiles at most 0.1 % too large");
}

void ModelBuilder::note_gaps() {
  note_streaming();
  note_starvation();
  note_pools();
  note_silent_nodes();
  note_republishing();
  note_outside_work();
  note_other_threads();
  note_tool_services();
  const Gaps& gaps = system_.gaps();
  const auto note = [&](std::uint64_t count, const char* what) {
    if (count > 0) {
      model_.notes.push_back(std::to_string(count) + " " + what);
    }
  };
  note(gaps.unknown_callbacks,
       "runs are of callbacks that were made before the trace: left out (start the session first)");
  note(gaps.unfinished, "runs had not ended, or their end was lost: left out");
  note(gaps.losses,
       "places where the trace lacks events, because the tracer had no room or kept only the "
       "newest ones: what ran there is left out");
  note(gaps.switches_lost,
       "places where switches of threads are missing: what ran there has no CPU time");
  note(gaps.unmatched_ends, "ends of runs have no start: left out");
  note(gaps.unknown_sources,
       "messages without their publication: it was before the trace, in an untraced process, or "
       "lost");
  note(gaps.unknown_links,
       "subscriptions and publishers of message links were made before the trace: left out");
  note(gaps.unknown_reads,
       "reads are of values that were stored before the trace, or of which the store was lost");
  note(gaps.mixed_reads,
       "runs read several values or newest messages which at no time were all the newest: their "
       "ages count from the oldest one, and may be too large");
  note(gaps.values_left_out, "events of stored values were left out, to bound the memory");
  note(gaps.incomplete_events, "events lack a field, as other versions of ros2_tracing have them");
  note(gaps.timeless,
       "messages were followed by when they were sent: the trace has no times of publications, as "
       "those of releases before Jazzy and sessions without ros2:rmw_publish");
  note(gaps.forgotten, "publications were forgotten before they were taken, to bound the memory");
}

}  // namespace rclrt::trace
