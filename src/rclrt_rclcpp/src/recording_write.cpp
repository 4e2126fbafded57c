// SPDX-License-Identifier: Apache-2.0
// How a recording becomes results: the application it was of, and what its instances did.
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

namespace rclrt_rclcpp {

namespace {

constexpr std::size_t kLeftOut = SIZE_MAX;

/// What tables and traces call a callback that no application names.
std::string id_of(const model::CallbackPlace& place) {
  return (place.node.empty() ? "?" : place.node) +
         (place.group == 0 ? "" : " group " + std::to_string(place.group)) + " " + place.kind +
         " " + place.name;
}

std::string milliseconds(model::Nanoseconds time) {
  std::string text = std::to_string(static_cast<double>(time.count()) / 1e6);
  text.erase(text.find_last_not_of('0') + 1);
  return (text.ends_with('.') ? text + "0" : text) + " ms";
}

std::string cpus_text(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) {
    text += (text.empty() ? "" : ", ") + std::to_string(cpu);
  }
  return text.empty() ? "every CPU" : "CPU " + text;
}

/// Its index; a new one if the application has none of this name.
std::size_t node_of(model::Application& application, const std::string& full_name) {
  const std::size_t slash = full_name.rfind('/');
  const std::string name = full_name.empty() ? "?" : full_name.substr(slash + 1);
  const std::string name_space =
      slash == 0 || slash == std::string::npos ? "/" : full_name.substr(0, slash);
  const auto found = std::find_if(
      application.nodes.begin(), application.nodes.end(),
      [&](const auto& each) { return each.name == name && each.name_space == name_space; });
  if (found != application.nodes.end()) {
    return static_cast<std::size_t>(found - application.nodes.begin());
  }
  application.nodes.push_back({.name = name, .name_space = name_space, .executor = 0});
  return application.nodes.size() - 1;
}

/// Each timer as a chain of its own.
void add_timer_chains(model::Application& application) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (const auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
      application.chains.push_back({.id = callback.id,
                                    .callbacks = {i},
                                    .priority = callback.priority.value_or(0),
                                    .deadline = callback.deadline.value_or(timer->period)});
    }
  }
}

}  // namespace

/// With the lock held: the application with what the robot really has. Returns for each number the
/// index of its callback, or kLeftOut.
std::vector<std::size_t> Recording::Impl::build(model::Application& application,
                                                std::vector<std::string>& notes) const {
  std::map<model::CallbackPlace, std::size_t> named;
  std::vector<bool> found(application.callbacks.size(), false);
  if (stated_) {
    const auto places = model::places_of(application);
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (const model::CallbackPlace& place : places[i]) {
        named.emplace(place, i);
      }
    }
  }
  const std::vector<model::Executor> stated_executors = std::exchange(application.executors, {});
  for (const Joined& each : joined_) {
    application.executors.push_back(each.executor);
  }
  for (model::Node& node : application.nodes) {
    node.executor = 0;
  }
  for (model::Callback& callback : application.callbacks) {
    callback.executor.reset();
  }
  std::vector<std::size_t> indices;
  std::vector<bool> here(application.nodes.size(), false);
  for (const Row& row : rows_) {
    std::size_t index = application.callbacks.size();
    if (const auto known = named.find(row.place); known != named.end()) {
      index = known->second;
      found[index] = true;
    } else if (counts_of(row).released == 0) {
      indices.push_back(kLeftOut);  // a node has a dozen services that nobody ever calls
      continue;
    } else {
      application.callbacks.push_back({.id = id_of(row.place),
                                       .node = node_of(application, row.place.node),
                                       .trigger = row.trigger,
                                       .publishes = {},
                                       .group = {},
                                       .priority = {}});
    }
    indices.push_back(index);
    model::Callback& callback = application.callbacks[index];
    here.resize(application.nodes.size(), false);
    model::Node& node = application.nodes[callback.node];
    if (!here[callback.node]) {
      here[callback.node] = true;
      node.executor = row.executor;
    } else if (node.executor != row.executor) {
      callback.executor = row.executor;  // its group was added to another one
    }
    callback.priority = row.level ? row.level : callback.priority;
    const auto* const real = std::get_if<model::Timer>(&row.trigger);
    auto* const stated = std::get_if<model::Timer>(&callback.trigger);
    if (real != nullptr && stated != nullptr && real->period != stated->period) {
      notes.push_back("callback '" + callback.id + "' (" + id_of(row.place) + ") has a period of " +
                      milliseconds(real->period) + ", not " + milliseconds(stated->period));
      stated->period = real->period;
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i]) {
      continue;
    }
    const auto places = model::places_of(*stated_)[i];
    notes.push_back("callback '" + application.callbacks[i].id + "': " +
                    (places.empty()
                         ? "an event is no entity of ROS, and is not recorded"
                         : "the robot has none like it (" + id_of(places.front()) + ")"));
  }
  if (!stated_) {
    add_timer_chains(application);
  }
  for (std::size_t i = 0; stated_ && i < stated_->nodes.size(); ++i) {
    if (!here[i]) {
      continue;  // in another process, perhaps
    }
    const model::Executor& stated = stated_executors[stated_->nodes[i].executor];
    const model::Executor& real = application.executors[application.nodes[i].executor];
    if (stated.cpus != real.cpus) {
      notes.push_back("node '" + stated_->nodes[i].name + "' runs on " + cpus_text(real.cpus) +
                      ", not on " + cpus_text(stated.cpus) +
                      ": the bounds are those of the latter");
    }
  }
  const auto blind = recorder::unfollowed(application);
  for (auto each = blind.rbegin(); each != blind.rend(); ++each) {
    const model::Chain& chain = application.chains[*each];
    const bool event =
        application.callbacks[chain.callbacks.front()].kind() == model::CallbackKind::kEvent;
    notes.push_back("chain '" + chain.id +
                    (event ? "' starts at an event and is not measured"
                           : "' goes through a synchronisation and is not measured"));
    application.chains.erase(application.chains.begin() + static_cast<std::ptrdiff_t>(*each));
  }
  return indices;
}

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
    throw std::logic_error("the recording was given to no executor (Options::recording)");
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
  recorder::follow_chains(results_.application, results_.window, instances, going_on(indices));
  assemble(std::move(instances), indices);

  recorder::write_results(directory_.staging(), results_);
  recorder::write_trace(directory_.staging(), results_);
  directory_.commit();
  results_ = {};  // up to a gigabyte
  return notes;
}

/// Ends what is measured. `kept` gets entities that must not end with the lock held.
void Recording::Impl::end_window(Kept& kept) {
  results_.window.end_ns = ended_ns_.value_or(rclrt::realtime::monotonic_now_ns());
  if (!ended_ns_) {
    look_who_goes_on(kept);
  }
  probe_->stop();
  results_.host_stalls = probe_->report();
  for (std::uint32_t i = 0; i < joined_.size(); ++i) {
    settle(i);
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

/// Gives instances the numbers of the application's callbacks, and leaves out those that have none
/// or were released before the recording started.
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
  results_.os_priorities.resize(results_.application.callbacks.size());
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
    results_.os_priorities[indices[i]] = rows_[i].os_priority;
    if (const std::string& kind = rows_[i].place.kind; kind != "timer" && kind != "subscription") {
      results_.other_kinds.emplace(indices[i], kind);
    }
  }
  recorder::account(results_, std::move(instances), rclrt::realtime::allowed_cpus().size());
}

}  // namespace rclrt_rclcpp
