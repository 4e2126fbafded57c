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
#include "rclrt/recorder/proposed_chains.hpp"
#include "rclrt/recorder/publications.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/run_accounting.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "recording_impl.hpp"

namespace rclrt_robot {

/// Returns the circumstances, most of which come from files.
recorder::RunContext Recording::Impl::read_context(
    const std::vector<recorder::RealtimeState>& realtime) const {
  recorder::RunContext context = recorder::read_context(realtime, steal_before_);
  context.rmw = rmw_get_implementation_identifier();
  context.versions = {{"rclrt", RCLRT_VERSION}, {"rclcpp", RCLCPP_VERSION_STR}};
  context.records_dropped = log_.dropped() + inbox_.dropped();
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
  const recorder::RunResults results =
      whole_.is_whole() ? finish_whole(notes) : finish_streamed(notes);
  try {
    recorder::write_results(directory_.staging(), results);
    recorder::write_trace(directory_.staging(), results);
    directory_.commit();
  } catch (const std::system_error& error) {
    throw rclrt::realtime::WriteError(error.code(), error.what() + writer_.written());
  }
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

/// Returns the results of a recording with all its instances.
recorder::RunResults Recording::Impl::finish_whole(std::vector<std::string>& notes) {
  std::vector<recorder::LoggedInstance> instances = whole_.take_instances();
  recorder::RunResults results;
  model::Application& application = results.application;
  std::vector<std::size_t> indices;
  std::vector<recorder::RealtimeState> realtime;
  std::vector<std::set<std::string>> of_node;
  std::vector<bool> going_on;
  {
    const std::scoped_lock lock(mutex_);
    results = std::exchange(results_, {});
    application = stated_.value_or(model::Application{});
    if (!stated_) {
      application.name = options_.name;
    }
    build(application, indices);
    note_differences(application, indices, notes);
    realtime = describe(results, indices);
    results.max_ages = stated_ ? recorder::MaxAges() : max_ages(indices);
    of_node = publications_of(application);
    going_on = this->going_on(indices, application.callbacks.size());
  }
  results.host_stalls = probe_->state();
  results.host_stalls.stalls = whole_.take_stalls();
  results.context = read_context(realtime);
  recorder::leave_out_chains(application, recorder::unfollowed(application), notes);
  renumber(instances, indices, results.window.start_ns);
  if (!stated_) {
    recorder::find_publications(application, instances, of_node);
    if (recorder::add_age_chains(application, results.max_ages)) {
      notes.emplace_back(kSkippedChains);
    }
  }
  recorder::follow_chains(application, results.window, instances, going_on);
  recorder::account(results, std::move(instances), rclrt::realtime::allowed_cpus().size());
  return results;
}

/// Returns the results of a recording that streamed.
recorder::RunResults Recording::Impl::finish_streamed(std::vector<std::string>& notes) {
  std::vector<std::set<std::string>> of_node;
  {
    const std::scoped_lock lock(mutex_);
    build(frame_.application, indices_);
    note_differences(frame_.application, indices_, notes);
    frame_.max_ages = stated_ ? recorder::MaxAges() : max_ages(indices_);
    set_executor(frame_, indices_);
    of_node = publications_of(frame_.application);
  }
  notes.insert(notes.end(), left_out_.begin(), left_out_.end());
  frame_.host_stalls = probe_->state();
  stream_->grow(of_node);
  recorder::RunResults results = frame_;
  std::vector<recorder::RealtimeState> realtime;
  std::vector<bool> going_on;
  {
    const std::scoped_lock lock(mutex_);
    results.window = results_.window;
    results.threads = std::move(results_.threads);
    realtime = describe(results, indices_);
    going_on = this->going_on(indices_, results.application.callbacks.size());
  }
  results.context = read_context(realtime);
  stream_->finish(results, going_on);
  if (stream_->skips_chains()) {
    notes.emplace_back(kSkippedChains);
  }
  return results;
}

/// Changes the callback numbers of the instances to indices in the application. Removes instances
/// of callbacks that are left out, and those that were released before the recording started.
void Recording::Impl::renumber(std::vector<recorder::LoggedInstance>& instances,
                               const std::vector<std::size_t>& indices, std::int64_t since_ns) {
  std::erase_if(instances, [&](const auto& each) {
    return each.record.release_ns < since_ns || indices[each.record.callback] == kLeftOut;
  });
  for (recorder::LoggedInstance& each : instances) {
    each.record.callback = static_cast<std::uint32_t>(indices[each.record.callback]);
  }
}

/// Returns which callbacks of the application would be released again. Called with the lock held.
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

/// Sets what comes neither from the instances nor from files. Returns the state of each executor,
/// for read_context(). Called with the lock held.
std::vector<recorder::RealtimeState> Recording::Impl::describe(
    recorder::RunResults& results, const std::vector<std::size_t>& indices) const {
  results.application_file = options_.application.string();
  results.application_sha256 = sha256_;
  results.proposes_chains = !stated_;
  set_executor(results, indices);
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
  std::vector<recorder::RealtimeState> realtime;
  for (const Joined& each : joined_) {
    realtime.push_back(each.realtime);
  }
  return realtime;
}

}  // namespace rclrt_robot
