// SPDX-License-Identifier: Apache-2.0
// The application of a recording: from a file and the robot's real values, or as found.
#include <algorithm>
#include <utility>

#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/proposed_chains.hpp"
#include "rclrt/recorder/publications.hpp"
#include "recording_impl.hpp"

namespace rclrt_robot {

namespace {

/// Returns the name, in tables and traces, of a callback that is not in the application's file.
std::string id_of(const model::CallbackPlace& place) {
  return (place.node.empty() ? "?" : place.node) +
         (place.group == 0 ? "" : " group " + std::to_string(place.group)) + " " + place.kind +
         " " + place.name;
}

std::string cpus_text(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) {
    text += (text.empty() ? "" : ", ") + std::to_string(cpu);
  }
  return text.empty() ? "every CPU" : "CPU " + text;
}

/// Returns the index of a node; of a new one if the application has none of this name.
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

/// Returns the trigger of a callback: a service, client or waitable as a subscription.
decltype(model::Callback::trigger) trigger_of(const CallbackFacts& facts) {
  if (facts.period) {
    return model::Timer{.period = *facts.period};
  }
  return model::Subscription{.topics = {facts.name}, .depth = facts.depth};
}

/// Adds each timer as a chain of its own.
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

std::string milliseconds(model::Nanoseconds time) {
  std::string text = std::to_string(static_cast<double>(time.count()) / 1e6);
  text.erase(text.find_last_not_of('0') + 1);
  return (text.ends_with('.') ? text + "0" : text) + " ms";
}

/// Builds the application of the recording: the stated one, if any, with the values that the robot
/// really has. Called with the lock held. Returns, for each number of a callback in the recording,
/// its index in the application, or kLeftOut.
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
      indices.push_back(kLeftOut);  // a node has a dozen services that are never called
      continue;
    } else {
      application.callbacks.push_back({.id = id_of(row.place),
                                       .node = node_of(application, row.place.node),
                                       .trigger = trigger_of(row.facts),
                                       .publishes = {},
                                       .group = group_of(row),
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
    callback.deadline = row.facts.timing.deadline ? row.facts.timing.deadline : callback.deadline;
    const auto& real = row.facts.period;
    auto* const stated = std::get_if<model::Timer>(&callback.trigger);
    if (real && stated != nullptr && *real != stated->period) {
      notes.push_back("callback '" + callback.id + "' (" + id_of(row.place) + ") has a period of " +
                      milliseconds(*real) + ", not " + milliseconds(stated->period));
      stated->period = *real;
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
  recorder::leave_out_chains(application, recorder::unfollowed(application), notes);
  return indices;
}

/// Returns the group of a callback: callbacks of an exclusive group exclude each other.
std::optional<std::string> Recording::Impl::group_of(const Row& row) {
  if (!row.facts.is_exclusive) {
    return std::nullopt;
  }
  return row.place.group == 0 ? std::string(model::kDefaultGroup)
                              : "group_" + std::to_string(row.place.group);
}

/// Finds out which callback publishes for which other, and how old data may be. Used if no file
/// states an application. Called with the lock held.
void Recording::Impl::connect(const std::vector<std::size_t>& indices,
                              const std::vector<recorder::LoggedInstance>& instances,
                              std::vector<std::string>& notes) {
  model::Application& application = results_.application;
  results_.proposes_chains = true;
  std::vector<std::set<std::string>> of_node;
  for (const model::Node& node : application.nodes) {
    const std::string full = (node.name_space == "/" ? "" : node.name_space) + "/" + node.name;
    const auto found = publishes_.find(full);
    of_node.push_back(found == publishes_.end() ? std::set<std::string>() : found->second);
  }
  recorder::find_publications(application, instances, of_node);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    // The chains of a recording lead to subscriptions: it does not know what a timer samples.
    if (indices[i] != kLeftOut && rows_[i].facts.timing.max_age && !rows_[i].facts.period &&
        !rows_[i].facts.timing.stamped_by) {
      results_.max_ages[indices[i]] = *rows_[i].facts.timing.max_age;
    }
  }
  if (recorder::add_age_chains(application, results_.max_ages)) {
    notes.emplace_back(
        "not every way to a callback with a largest age is a chain of the report: state an "
        "application");
  }
}

}  // namespace rclrt_robot
