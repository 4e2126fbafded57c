// SPDX-License-Identifier: Apache-2.0
// Makes results of a recording: its application, and its instances.
#include <rmw/rmw.h>

#include <rclcpp/version.h>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "rclrt/recorder/sha256.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "recording_impl.hpp"

namespace rclrt_robot {

recorder::RunContext Recording::Impl::read_context() const {
  std::vector<recorder::RealtimeState> realtime;
  for (const Joined& each : joined_) {
    realtime.push_back(each.realtime);
  }
  recorder::RunContext context = recorder::read_context(realtime, steal_before_);
  context.rmw = rmw_get_implementation_identifier();
  context.versions = {{"rclrt", RCLRT_VERSION}, {"rclcpp", RCLCPP_VERSION_STR}};
  return context;
}

std::vector<std::string> Recording::Impl::write() {
  note_threads();
  Kept kept;
  const std::scoped_lock lock(mutex_);
  if (!probe_ || written_) {
    throw std::logic_error(written_ ? "the recording was written already"
                                    : "the recording was not started: no executor has spun");
  }
  if (joined_.empty()) {
    throw std::logic_error(
        "no executor has this recording; set Options::recording before the executor is made");
  }
  written_ = true;
  end_window(kept);
  std::vector<recorder::LoggedInstance> instances = log_.finish();
  std::vector<std::string> notes;
  cut_where_full(notes);
  results_.application = stated_.value_or(model::Application{});
  if (!stated_) {
    results_.application.name = options_.name;
  }
  const std::vector<std::size_t> indices = build(results_.application, notes);
  renumber(instances, indices);
  if (!stated_) {
    connect(indices, instances, notes);
  }
  recorder::follow_chains(results_.application, results_.window, instances, going_on(indices));
  assemble(std::move(instances), indices);

  recorder::write_results(directory_.staging(), results_);
  recorder::write_trace(directory_.staging(), results_);
  directory_.commit();
  results_ = {};  // up to a gigabyte
  return notes;
}

/// Ends the measurement. `kept` gets entities that must not end with the lock held.
void Recording::Impl::end_window(Kept& kept) {
  results_.window.end_ns = ended_ns_.value_or(rclrt::realtime::monotonic_now_ns());
  if (!ended_ns_) {
    note_active_rows(kept);
  }
  probe_->stop();
  results_.host_stalls = probe_->report();
  for (std::uint32_t i = 0; i < joined_.size(); ++i) {
    save_engine_values(i);
  }
}

void Recording::Impl::cut_where_full(std::vector<std::string>& notes) {
  recorder::RunWindow& window = results_.window;
  if (const auto full_ns = log_.full_since_ns(); full_ns && *full_ns < window.end_ns) {
    window.end_ns = std::max(window.start_ns, *full_ns);
    notes.push_back("the recording was full after " +
                    milliseconds(model::Nanoseconds(window.end_ns - window.start_ns)) +
                    " and ends there: see RecordingOptions::max_instances");
  }
}

/// Changes the callback numbers of the instances to indices in the application. Removes instances
/// of callbacks that are left out, and those that were released before the recording started.
void Recording::Impl::renumber(std::vector<recorder::LoggedInstance>& instances,
                               const std::vector<std::size_t>& indices) const {
  std::erase_if(instances, [&](const auto& each) {
    return each.record.release_ns < results_.window.start_ns ||
           indices[each.record.callback] == kLeftOut;
  });
  for (recorder::LoggedInstance& each : instances) {
    each.record.callback = static_cast<std::uint32_t>(indices[each.record.callback]);
  }
}

/// Returns which callbacks of the application would be released again.
std::vector<bool> Recording::Impl::going_on(const std::vector<std::size_t>& indices) const {
  std::vector<bool> result(results_.application.callbacks.size(), false);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (indices[i] != kLeftOut && rows_[i].goes_on) {
      result[indices[i]] = true;
    }
  }
  return result;
}

void Recording::Impl::assemble(std::vector<recorder::LoggedInstance> instances,
                               const std::vector<std::size_t>& indices) {
  results_.application_file = options_.application.string();
  if (stated_) {
    results_.application_sha256 = recorder::sha256_of_file(options_.application);
  }
  results_.executor = choice_;
  results_.executor_label = label_of(choice_);
  if (choice_.trigger == model::SetTrigger::kCallback) {
    results_.executor.trigger = model::SetTrigger::kAll;  // has no bounds either
    results_.executor_label = std::string(traits(choice_).label) + ", a trigger of its own";
  }
  results_.executor_label += " (rclcpp)";
  results_.context = read_context();
  results_.context.records_dropped = log_.dropped();
  results_.callback_counts.resize(results_.application.callbacks.size());
  results_.kernel_priorities.resize(results_.application.callbacks.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (indices[i] == kLeftOut) {
      continue;
    }
    recorder::CallbackCounts& sum = results_.callback_counts[indices[i]];
    const recorder::CallbackCounts own = counts_of(rows_[i]);
    sum.released += own.released;
    sum.completed += own.completed;
    sum.dropped += own.dropped;
    sum.missed += own.missed;
    results_.kernel_priorities[indices[i]] = rows_[i].kernel_priority;
    if (const std::string& kind = rows_[i].place.kind; kind != "timer" && kind != "subscription") {
      results_.other_kinds.emplace(indices[i], kind);
    }
  }
  recorder::account(results_, std::move(instances), rclrt::realtime::allowed_cpus().size());
}

}  // namespace rclrt_robot
