// SPDX-License-Identifier: Apache-2.0
// The application of a recording: from a file and the robot's real values, or as found.
#include <algorithm>
#include <map>
#include <utility>

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

/// Adds a timer as a chain of its own.
void add_timer_chain(model::Application& application, std::size_t index) {
  const model::Callback& callback = application.callbacks[index];
  if (const auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
    application.chains.push_back({.id = callback.id,
                                  .callbacks = {index},
                                  .priority = callback.priority.value_or(0),
                                  .deadline = callback.deadline.value_or(timer->period)});
  }
}

}  // namespace

std::string milliseconds(model::Nanoseconds time) {
  std::string text = std::to_string(static_cast<double>(time.count()) / 1e6);
  text.erase(text.find_last_not_of('0') + 1);
  return (text.ends_with('.') ? text + "0" : text) + " ms";
}

/// Returns the index of each place of the application's file.
std::map<model::CallbackPlace, std::size_t> Recording::Impl::indices_of(
    const std::optional<model::Application>& stated) {
  std::map<model::CallbackPlace, std::size_t> result;
  if (stated) {
    const auto places = model::places_of(*stated);
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (const model::CallbackPlace& place : places[i]) {
        result.emplace(place, i);
      }
    }
  }
  return result;
}

/// Builds the application of the recording: the stated one, if any, with the values that the robot
/// really has. `application` is the stated one, or what an earlier call has made of it; callbacks
/// that appeared since then are added behind the others. Sets for each number of a callback in the
/// recording its index in the application, or kLeftOut. Called with the lock held.
void Recording::Impl::build(model::Application& application,
                            std::vector<std::size_t>& indices) const {
  application.executors.clear();
  for (const Joined& each : joined_) {
    application.executors.push_back(each.executor);
  }
  for (model::Node& node : application.nodes) {
    node.executor = 0;
  }
  for (model::Callback& callback : application.callbacks) {
    callback.executor.reset();
  }
  indices.resize(rows_.size(), kLeftOut);
  std::vector<bool> here(application.nodes.size(), false);
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const Row& row = rows_[number];
    std::size_t& index = indices[number];
    const bool is_new = index == kLeftOut;
    if (const auto known = named_.find(row.place); is_new && known != named_.end()) {
      index = known->second;
    } else if (is_new) {
      if (!row.is_seen && counts_of(row).released == 0) {
        continue;  // a node has a dozen services that are never called
      }
      index = application.callbacks.size();
      application.callbacks.push_back({.id = id_of(row.place),
                                       .node = node_of(application, row.place.node),
                                       .trigger = trigger_of(row.facts),
                                       .publishes = {},
                                       .group = group_of(row),
                                       .priority = {}});
    }
    model::Callback& callback = application.callbacks[index];
    here.resize(application.nodes.size(), false);
    model::Node& node = application.nodes[callback.node];
    if (!here[callback.node]) {
      here[callback.node] = true;
      node.executor = row.executor;
    } else if (node.executor != row.executor) {
      callback.executor = row.executor;  // its group was added to another one
    }
    set_real_values(row, callback);
    if (is_new && !stated_) {
      add_timer_chain(application, index);
    }
  }
}

/// Sets what the robot really has.
void Recording::Impl::set_real_values(const Row& row, model::Callback& callback) {
  callback.priority = row.level ? row.level : callback.priority;
  callback.deadline = row.facts.timing.deadline ? row.facts.timing.deadline : callback.deadline;
  if (auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
    timer->period = row.facts.period.value_or(timer->period);
  }
}

/// Adds a line for each difference between the application's file, if any, and the robot. Called
/// with the lock held.
void Recording::Impl::note_differences(const model::Application& application,
                                       const std::vector<std::size_t>& indices,
                                       std::vector<std::string>& notes) const {
  if (!stated_) {
    return;
  }
  std::vector<bool> found(stated_->callbacks.size(), false);
  std::vector<bool> here(stated_->nodes.size(), false);
  for (std::size_t number = 0; number < indices.size(); ++number) {
    const std::size_t index = indices[number];
    if (index == kLeftOut) {
      continue;
    }
    const model::Callback& callback = application.callbacks[index];
    if (callback.node < here.size()) {
      here[callback.node] = true;
    }
    if (index >= found.size()) {
      continue;
    }
    found[index] = true;
    const auto& real = rows_[number].facts.period;
    const auto* const timer = std::get_if<model::Timer>(&stated_->callbacks[index].trigger);
    if (real && timer != nullptr && *real != timer->period) {
      notes.push_back("callback '" + callback.id + "' (" + id_of(rows_[number].place) +
                      ") has a period of " + milliseconds(*real) + ", not " +
                      milliseconds(timer->period));
    }
  }
  const auto places = model::places_of(*stated_);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) {
      notes.push_back("callback '" + stated_->callbacks[i].id + "': " +
                      (places[i].empty()
                           ? "an event is no entity of ROS, and is not recorded"
                           : "the robot has none like it (" + id_of(places[i].front()) + ")"));
    }
  }
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (!here[i]) {
      continue;  // in another process, perhaps
    }
    const model::Executor& stated = stated_->executors[stated_->nodes[i].executor];
    const model::Executor& real = application.executors[application.nodes[i].executor];
    if (stated.cpus != real.cpus) {
      notes.push_back("node '" + stated_->nodes[i].name + "' runs on " + cpus_text(real.cpus) +
                      ", not on " + cpus_text(stated.cpus) +
                      ": the bounds are those of the latter");
    }
  }
}

/// Returns the group of a callback: callbacks of an exclusive group exclude each other.
std::optional<std::string> Recording::Impl::group_of(const Row& row) {
  if (!row.facts.is_exclusive) {
    return std::nullopt;
  }
  return row.place.group == 0 ? std::string(model::kDefaultGroup)
                              : "group_" + std::to_string(row.place.group);
}

/// Returns the topics on which each node of the application has publishers.
std::vector<std::set<std::string>> Recording::Impl::publications_of(
    const model::Application& application) const {
  std::vector<std::set<std::string>> of_node;
  for (const model::Node& node : application.nodes) {
    const std::string full = (node.name_space == "/" ? "" : node.name_space) + "/" + node.name;
    const auto found = publishes_.find(full);
    of_node.push_back(found == publishes_.end() ? std::set<std::string>() : found->second);
  }
  return of_node;
}

/// Returns the largest ages that callbacks state. The chains of a recording lead to subscriptions:
/// it does not know what a timer samples.
recorder::MaxAges Recording::Impl::max_ages(const std::vector<std::size_t>& indices) const {
  recorder::MaxAges result;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != kLeftOut && rows_[i].facts.timing.max_age && !rows_[i].facts.period &&
        !rows_[i].facts.timing.stamped_by) {
      result[indices[i]] = *rows_[i].facts.timing.max_age;
    }
  }
  return result;
}

}  // namespace rclrt_robot
