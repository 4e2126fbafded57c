// SPDX-License-Identifier: Apache-2.0
// Makes results of a recording: its application, and its instances.
#include <rmw/rmw.h>

#include <rclcpp/version.h>
#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/replacing_file.hpp"
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
  {
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
  }
  log_.finish();
  drain_.stop();
  throw_failure();
  std::vector<std::string> notes;
  const std::scoped_lock lock(mutex_);
  results_.host_stalls = probe_->state();
  if (whole_.is_whole()) {
    finish_whole(notes);
  } else {
    finish_streamed(notes);
  }
  try {
    recorder::write_results(directory_.staging(), results_);
    recorder::write_trace(directory_.staging(), results_);
    directory_.commit();
  } catch (const std::system_error& error) {
    throw rclrt::realtime::WriteError(error.code(), error.what() + writer_.written());
  }
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
  for (std::uint32_t i = 0; i < joined_.size(); ++i) {
    save_engine_values(i);
  }
}

/// Sets the results of a recording with all its instances.
void Recording::Impl::finish_whole(std::vector<std::string>& notes) {
  results_.host_stalls.stalls = whole_.take_stalls();
  std::vector<recorder::LoggedInstance> instances = whole_.take_instances();
  results_.application = stated_.value_or(model::Application{});
  if (!stated_) {
    results_.application.name = options_.name;
  }
  std::vector<std::size_t> indices;
  build(results_.application, indices, notes);
  model::Application& application = results_.application;
  recorder::leave_out_chains(application, recorder::unfollowed(application), notes);
  renumber(instances, indices);
  if (!stated_) {
    connect(indices, instances, notes);
  }
  recorder::follow_chains(application, results_.window, instances,
                          going_on(indices, application.callbacks.size()));
  describe(results_, indices);
  recorder::account(results_, std::move(instances), rclrt::realtime::allowed_cpus().size());
}

/// Sets the results of a recording that streamed.
void Recording::Impl::finish_streamed(std::vector<std::string>& notes) {
  build(frame_.application, indices_, notes);
  notes.insert(notes.end(), left_out_.begin(), left_out_.end());
  frame_.max_ages = stated_ ? recorder::MaxAges() : max_ages(indices_);
  frame_.host_stalls = std::move(results_.host_stalls);
  set_executor(frame_, indices_);
  stream_->grow(publications_of(frame_.application));
  recorder::RunResults results = frame_;
  results.window = results_.window;
  results.threads = std::move(results_.threads);
  describe(results, indices_);
  stream_->finish(results, going_on(indices_, results.application.callbacks.size()));
  if (stream_->skips_chains()) {
    notes.emplace_back(kSkippedChains);
  }
  results_ = std::move(results);
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
std::vector<bool> Recording::Impl::going_on(const std::vector<std::size_t>& indices,
                                            std::size_t callbacks) const {
  std::vector<bool> result(callbacks, false);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != kLeftOut && rows_[i].goes_on) {
      result[indices[i]] = true;
    }
  }
  return result;
}

/// Sets what is known of the executors and of the priorities in them.
void Recording::Impl::set_executor(recorder::RunResults& results,
                                   const std::vector<std::size_t>& indices) const {
  results.executor = choice_;
  results.executor_label = label_of(choice_);
  if (choice_.trigger == model::SetTrigger::kCallback) {
    results.executor.trigger = model::SetTrigger::kAll;  // has no bounds either
    results.executor_label = std::string(traits(choice_).label) + ", a trigger of its own";
  }
  results.executor_label += " (rclcpp)";
  results.kernel_priorities.resize(results.application.callbacks.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != kLeftOut) {
      results.kernel_priorities[indices[i]] = rows_[i].kernel_priority;
    }
  }
}

/// Sets what does not come from the instances. Called with the lock held.
void Recording::Impl::describe(recorder::RunResults& results,
                               const std::vector<std::size_t>& indices) const {
  results.application_file = options_.application.string();
  if (stated_) {
    results.application_sha256 = recorder::sha256_of_file(options_.application);
  }
  results.proposes_chains = !stated_;
  set_executor(results, indices);
  results.context = read_context();
  results.context.records_dropped = log_.dropped() + dropped();
  results.callback_counts.assign(results.application.callbacks.size(), {});
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == kLeftOut) {
      continue;
    }
    results.callback_counts[indices[i]] += counts_of(rows_[i]);
    if (const std::string& kind = rows_[i].place.kind; kind != "timer" && kind != "subscription") {
      results.other_kinds.emplace(indices[i], kind);
    }
  }
}

}  // namespace rclrt_robot
