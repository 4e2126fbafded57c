// SPDX-License-Identifier: Apache-2.0
#include "logged_runs.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "rclrt/recorder/lineage.hpp"

namespace rclrt::trace {

namespace {

/// Removes the chains that cannot be followed, with a note for each.
void leave_out_unfollowed(model::Application& application, const TracedModel& model,
                          std::vector<std::string>& notes) {
  std::vector<std::size_t> blind = recorder::unfollowed(application);
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    if (model.stands_for_other[application.chains[i].callbacks.front()]) {
      blind.push_back(i);
    }
  }
  recorder::leave_out_chains(application, std::move(blind), notes);
}

recorder::RunContext traced_context(const ReadCounts& counts) {
  recorder::RunContext context;
  context.machine = {.kernel = "traced", .cpus = 0, .cpu_model = "traced", .preempt_rt = false};
  context.realtime_reason = "the trace does not say how threads were scheduled";
  context.rmw = "unknown";
  context.ros_distro = "unknown";
  context.versions = {{"rclrt", RCLRT_VERSION}};
  context.records_dropped = counts.lost;
  return context;
}

}  // namespace

std::vector<bool> are_sampled(const model::Application& application) {
  std::set<std::string> topics;
  for (const model::Callback& callback : application.callbacks) {
    topics.insert(callback.samples.begin(), callback.samples.end());
  }
  std::vector<bool> result;
  for (const model::Callback& callback : application.callbacks) {
    result.push_back(std::ranges::any_of(
        callback.publishes, [&](const std::string& topic) { return topics.contains(topic); }));
  }
  return result;
}

recorder::LoggedInstance logged(const TracedCallback& callback, const TracedModel& model,
                                const TracedInstance& traced) {
  const std::uint32_t index = model.callback_of[traced.callback];
  recorder::LoggedInstance result;
  recorder::InstanceRecord& record = result.record;
  record.callback = index;
  record.level = callback.priority.value_or(0);
  record.start_ns = traced.start_ns;
  record.end_ns = traced.end_ns;
  record.read_ns = traced.read_ns;
  record.stored_ns = traced.stored_ns;
  record.cpu_ns = traced.cpu_ns();
  record.preemptions = traced.preemptions;
  record.first_cpu = traced.first_cpu;
  record.last_cpu = traced.last_cpu;
  if (traced.scheduled) {
    record.first_part = traced.first_part;
    record.part_count = traced.part_count;
  }
  record.release_ns = traced.release_ns;
  record.ready_ns = traced.ready_ns;
  if (record.release_ns == 0) {
    record.release_ns = traced.published_ns != 0 ? traced.published_ns : traced.start_ns;
    record.ready_ns = record.release_ns;
  }
  result.executor = static_cast<std::uint32_t>(model.application.executor_of(index));
  result.slot = model.slot_of[traced.thread];
  result.published_ns = traced.published_ns;
  if (traced.publisher != kNone) {
    result.publisher = model.callback_of[traced.publisher];
  }
  return result;
}

recorder::RunResults begin_results(TracedModel& model, const model::ExecutorChoice& executor,
                                   const ReadCounts& counts, std::vector<std::string>& notes) {
  recorder::RunResults results;
  results.application = model.application;
  leave_out_unfollowed(results.application, model, notes);
  model.application = results.application;
  results.executor = executor;
  results.executor_label = "traced: " + label_of(executor);
  results.started_utc = "1970-01-01T00:00:00Z";
  results.context = traced_context(counts);
  results.host_stalls.reason = "the trace has no probe";
  results.callback_counts.resize(results.application.callbacks.size());
  results.kernel_priorities.resize(results.application.callbacks.size());
  return results;
}

}  // namespace rclrt::trace
