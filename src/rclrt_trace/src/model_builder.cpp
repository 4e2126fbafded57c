// SPDX-License-Identifier: Apache-2.0
// Callbacks of the model: where they run, their triggers and their publications.
#include "model_builder.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>
#include <utility>

#include "rclrt/model/tool_interfaces.hpp"

namespace rclrt::trace {

namespace {

/// Returns the name of a process, after that of its host if there are several.
std::string process_name(const TracedSystem& system, std::int64_t process) {
  const TracedProcess& own = system.processes()[static_cast<std::size_t>(process)];
  const std::vector<std::string>& hosts = system.host_names();
  const std::string host = hosts.empty() ? "" : hosts[own.host] + "_";
  for (const TracedThread& thread : system.threads()) {
    if (thread.process == process && thread.tid == own.pid && !thread.name.empty()) {
      return host + thread.name;
    }
  }
  return host + "process " + std::to_string(own.pid);
}

}  // namespace

std::vector<int> allowed_cpus(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
  std::erase_if(cpus, [](int cpu) { return cpu < 0 || cpu >= kMostCpus; });
  return cpus;
}

ModelBuilder::ModelBuilder(const TracedSystem& system, const std::string& name)
    : system_(system),
      lives_(find_lives(system)),
      pools_(find_pools(system)),
      application_(model_.application),
      name_spaces_(kLongestNamespace) {
  application_.name = Names().unique(name);
  collect_runs();
  name_topics();
  require_publications();
}

void ModelBuilder::name_topics() {
  TopicNames names(kLongestTopic);
  for (std::uint32_t i = 0; i < system_.topic_count(); ++i) {
    names.reserve(system_.topic(i));
  }
  for (std::uint32_t i = 0; i < system_.topic_count(); ++i) {
    topics_.push_back(names.name(system_.topic(i)));
    if (names.is_changed(system_.topic(i))) {
      model_.notes.push_back("topic '" + system_.topic(i) + "' is called '" + topics_.back() +
                             "': the model's names are letters, digits and single underscores");
    }
  }
  for (const TracedNode& node : system_.nodes()) {
    name_spaces_.reserve(node.name_space);
    node_names_.reserve(node.name);
  }
}

/// Returns whether the callback serves only tools or the middleware. The model leaves it out.
bool ModelBuilder::is_of_tools(std::uint32_t number) const {
  const TracedCallback& callback = callback_at(number);
  if (callback.kind == TriggerKind::kService) {
    return model::is_tool_service(callback.name);
  }
  return !callback.inputs.empty() && std::ranges::all_of(callback.inputs, [&](const auto& input) {
    return input.topic != kNone && model::is_tool_topic(system_.topic(input.topic));
  });
}

void ModelBuilder::choose_callbacks() {
  model_.callback_of.assign(lives_.callbacks.size(), kNone);
  std::map<std::uint32_t, int> timers;
  std::size_t idle = 0;
  std::size_t idle_timers = 0;
  for (std::uint32_t i = 0; i < lives_.callbacks.size(); ++i) {
    if (lives_.callback_of[i] != i) {
      continue;
    }
    const TracedCallback& traced = callback_at(i);
    const bool of_tools = is_of_tools(i);
    const bool has_starved = std::ranges::any_of(
        starvation_.starved, [i](const Starvation& each) { return each.wait.callback == i; });
    if ((runs_[i].count == 0 && !has_starved) || of_tools) {
      const bool exists = traced.kind != TriggerKind::kOther || !traced.name.empty();
      idle += exists && !of_tools ? 1 : 0;
      idle_timers += traced.kind == TriggerKind::kTimer ? 1 : 0;
      continue;
    }
    model_.callback_of[i] = static_cast<std::uint32_t>(application_.callbacks.size());
    application_.callbacks.push_back({.id = callback_names_.unique(callback_name(i, timers))});
    traced_of_.push_back(i);
    for (const auto& [input, topic] : traced.outputs) {
      published_.insert(topic);
    }
  }
  if (application_.callbacks.empty()) {
    throw TraceError(
        "the trace has no run of a callback of ROS (ros2:callback_start and _end)\n"
        "  fix: start the session before the nodes, with the events ros2:* enabled; nodes of rclpy "
        "have no such events");
  }
  if (idle_timers > 0) {
    model_.notes.push_back(std::to_string(idle_timers) + (idle_timers == 1 ? " timer" : " timers") +
                           " never ran: where the timers of a node are counted (synthesize "
                           "--nodes), they are missing");
  }
  if (idle > 0) {
    model_.notes.push_back(std::to_string(idle) + (idle == 1 ? " callback" : " callbacks") +
                           " never ran: left out");
  }
}

std::string ModelBuilder::callback_name(std::uint32_t traced,
                                        std::map<std::uint32_t, int>& timers) {
  const TracedCallback& callback = callback_at(traced);
  const bool own_name = !callback.name.empty() && !callback.name.starts_with('/');
  if (callback.priority && own_name && callback.name != "timer") {
    return callback.name;  // rclrt's name, chosen by the author
  }
  const std::string node = callback.node == kNone ? "" : system_.nodes()[callback.node].name + "_";
  switch (callback.kind) {
    case TriggerKind::kTimer:
      return node + "timer_" + std::to_string(++timers[callback.node]);
    case TriggerKind::kSubscription:
      return node + (callback.inputs.empty() || callback.inputs.front().topic == kNone
                         ? "subscription"
                         : topic(callback.inputs.front().topic));
    case TriggerKind::kService:
      return node + callback.name;
    case TriggerKind::kOther:
      break;
  }
  return node + (callback.name.empty() ? "callback" : callback.name);
}

/// Returns a thread of the callback's executor. `traced` ran, or starved.
std::uint32_t ModelBuilder::some_thread(std::uint32_t traced) const {
  if (!runs_[traced].threads.empty()) {
    return *runs_[traced].threads.begin();
  }
  // One of its lives is in a pool, because it starved there.
  const auto pool = std::ranges::find_if(pools_, [&](const Pool& each) {
    return std::ranges::any_of(each.callbacks, [&](std::uint32_t callback) {
      return lives_.callback_of[callback] == traced;
    });
  });
  return pool->runs.front()->thread;
}

/// Returns the executor of each callback, as far as the threads show it: callbacks that ran on one
/// thread have the same executor, and so have all threads that ran the same callback.
std::vector<std::uint32_t> ModelBuilder::executors_by_thread() {
  std::vector<std::uint32_t> group(system_.threads().size());
  std::iota(group.begin(), group.end(), 0U);
  const std::function<std::uint32_t(std::uint32_t)> root = [&](std::uint32_t thread) {
    while (group[thread] != thread) {
      thread = group[thread] = group[group[thread]];
    }
    return thread;
  };
  for (const std::uint32_t traced : traced_of_) {
    const std::uint32_t first = some_thread(traced);
    for (const std::uint32_t thread : runs_[traced].threads) {
      group[root(thread)] = root(first);
    }
  }
  std::vector<std::uint32_t> result(system_.callbacks().size(), kNone);
  for (const std::uint32_t traced : traced_of_) {
    result[traced] = root(some_thread(traced));
  }
  return result;
}

/// Returns a number that identifies the callback's executor, the same in each of its lives. It
/// comes from rclrt's own events; if the trace has none, from the threads that ran the callback.
std::uint32_t ModelBuilder::executor_key(std::uint32_t number,
                                         const std::vector<std::uint32_t>& by_thread) {
  const std::uint32_t executor = callback_at(number).executor;
  return executor != kNone ? lives_.executor_of[executor] : by_thread[number];
}

void ModelBuilder::place() {
  const std::vector<std::uint32_t> by_thread = executors_by_thread();
  const auto process_of = [&](std::int64_t process) {
    return static_cast<std::int64_t>(lives_.process_of[static_cast<std::size_t>(process)]);
  };
  std::set<std::int64_t> processes;
  for (const std::uint32_t traced : traced_of_) {
    processes.insert(process_of(callback_at(traced).process));
  }
  Names process_names;
  std::map<std::int64_t, std::string> name_of;
  for (const std::int64_t process : processes) {
    name_of[process] =
        processes.size() == 1 ? "" : process_names.unique(process_name(system_, process));
  }
  Names names;
  std::map<std::pair<bool, std::uint32_t>, std::size_t> executors;
  executor_of_.assign(lives_.callbacks.size(), kNone);
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const TracedCallback& traced = callback_at(traced_of_[i]);
    const std::string& process = name_of[process_of(traced.process)];
    const bool named = traced.executor != kNone;
    const std::uint32_t key = executor_key(traced_of_[i], by_thread);
    const auto [found, fresh] = executors.try_emplace({named, key}, application_.executors.size());
    if (fresh) {
      const std::string name = named ? system_.executors()[key].name
                                     : process + "_executor_" + std::to_string(found->second + 1);
      application_.executors.push_back(
          {.name = names.unique(name),
           .cpus = named ? allowed_cpus(system_.executors()[key].cpus) : std::vector<int>(),
           .process = process});
    }
    executor_of_[traced_of_[i]] = static_cast<std::uint32_t>(found->second);
    model::Callback& callback = application_.callbacks[i];
    callback.node = node_in_model(traced.node, found->second, process_of(traced.process));
    if (application_.nodes[callback.node].executor != found->second) {
      callback.executor = found->second;
    }
  }
  assign_slots();
}

/// Numbers the threads of each executor. If a thread begins after one in another process has ended,
/// it gets the same number.
void ModelBuilder::assign_slots() {
  std::map<std::pair<std::size_t, std::uint32_t>, RunSpan> spans;  // by executor and thread
  const auto add = [&](std::uint32_t callback, std::uint32_t thread, const RunSpan& span) {
    const std::uint32_t executor = executor_of_[lives_.callback_of[callback]];
    if (executor != kNone) {
      spans[{executor, thread}].add(span);
    }
  };
  for (const TracedInstance& instance : system_.instances()) {
    add(instance.callback, instance.thread, {instance.start_ns, instance.end_ns});
  }
  for (const std::uint32_t callback : system_.first_runs()) {  // also those that are not kept
    for (const auto& [thread, span] : system_.totals()[callback].threads) {
      add(callback, thread, span);
    }
  }
  model_.slot_of.assign(system_.threads().size(), 0);
  std::map<std::size_t, std::vector<RunSpan>> slots;
  std::map<std::size_t, std::vector<std::int64_t>> processes;  // process of each slot's last thread
  for (const auto& [key, span] : spans) {
    const auto& [executor, thread] = key;
    const std::int64_t process = system_.threads()[thread].process;
    std::vector<RunSpan>& used = slots[executor];
    std::vector<std::int64_t>& of = processes[executor];
    std::size_t slot = 0;
    while (slot < used.size() && (used[slot].last_ns > span.first_ns || of[slot] == process)) {
      ++slot;
    }
    used.resize(std::max(used.size(), slot + 1));
    of.resize(used.size());
    used[slot] = span;
    of[slot] = process;
    model_.slot_of[thread] = static_cast<std::uint32_t>(slot);
  }
  threads_of_.assign(application_.executors.size(), 0);
  std::vector<std::vector<const TracedInstance*>> runs(application_.executors.size());
  for (const TracedInstance& instance : system_.instances()) {
    const std::uint32_t executor = executor_of_[lives_.callback_of[instance.callback]];
    if (executor != kNone) {
      runs[executor].push_back(&instance);
    }
  }
  for (std::size_t executor = 0; executor < runs.size(); ++executor) {
    threads_of_[executor] = most_threads_at_once(std::move(runs[executor]));
  }
  for (const std::uint32_t callback : system_.first_runs()) {
    const std::uint32_t executor = executor_of_[lives_.callback_of[callback]];
    if (executor != kNone) {
      std::size_t& most = threads_of_[executor];
      most = std::max(most, system_.totals()[callback].threads_at_once);
    }
  }
}

std::string ModelBuilder::name_node(const TracedNode& node) {
  std::string name = node_names_.unique(node.name);
  if (name != node.name) {
    model_.notes.push_back("node '" + full_name(node) + "' is called '" + name +
                           "': the model's nodes have names that differ, of letters, digits and "
                           "single underscores");
  }
  return name;
}

std::size_t ModelBuilder::node_in_model(std::uint32_t traced_node, std::size_t executor,
                                        std::int64_t process) {
  const bool known = traced_node != kNone;
  const auto found = known ? nodes_.find(traced_node) : nodes_.end();
  if (found != nodes_.end()) {
    return found->second;
  }
  if (const auto other = nameless_.find(process); !known && other != nameless_.end()) {
    return other->second;
  }
  const TracedNode node =
      known ? system_.nodes()[traced_node] : TracedNode{process, "no_node", "/", 0};
  const std::string name = known ? name_node(node) : node_names_.unique(node.name);
  const std::string name_space = node.name_space.empty() ? "/" : node.name_space;
  application_.nodes.push_back(
      {.name = name, .name_space = name_spaces_.name(name_space), .executor = executor});
  if (name_spaces_.is_changed(name_space)) {
    model_.notes.push_back("namespace '" + name_space + "' of node '" + node.name +
                           "' is called '" + application_.nodes.back().name_space +
                           "': the model's names are letters, digits and single underscores");
  }
  const std::size_t index = application_.nodes.size() - 1;
  if (known) {
    nodes_[traced_node] = index;
  } else {
    nameless_[process] = index;
  }
  return index;
}

void ModelBuilder::connect() {
  model_.stands_for_other.assign(application_.callbacks.size(), false);
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    set_trigger(i);
    model::Callback& callback = application_.callbacks[i];
    const TracedCallback& traced = callback_at(traced_of_[i]);
    std::vector<std::uint32_t> topics;
    for (const auto& [input, output] : traced.outputs) {
      if (!model::is_tool_topic(system_.topic(output)) &&
          std::ranges::find(topics, output) == topics.end()) {
        topics.push_back(output);
        callback.publishes.push_back(topic(output));
      }
    }
    const std::vector<std::string> taken = model::inputs(callback);
    if (taken.size() < 2 || callback.kind() != model::CallbackKind::kSubscription) {
      continue;
    }
    // The routes: for each input, the topics that were published for its messages.
    callback.routes.resize(taken.size());
    for (std::size_t input = 0; input < taken.size(); ++input) {
      for (const auto& [from, output] : traced.outputs) {
        const auto at = std::ranges::find(topics, output);
        const bool here =
            from < traced.inputs.size() && topic(traced.inputs[from].topic) == taken[input];
        if (here && at != topics.end()) {
          callback.routes[input].push_back(static_cast<std::size_t>(at - topics.begin()));
        }
      }
      std::ranges::sort(callback.routes[input]);
    }
  }
}

TracedModel ModelBuilder::finish() {
  for (std::uint32_t i = 0; i < model_.callback_of.size(); ++i) {
    model_.callback_of[i] = model_.callback_of[lives_.callback_of[i]];
  }
  model_.notes.insert(model_.notes.begin(), lives_.notes.begin(), lives_.notes.end());
  return std::move(model_);
}

TracedModel build_model(const TracedSystem& system, const std::string& name) {
  ModelBuilder builder(system, name);
  builder.find_groups();
  builder.find_starved();
  builder.choose_callbacks();
  builder.place();
  builder.connect();
  builder.break_cycles();
  builder.add_variables();
  builder.add_timing();
  builder.add_chains();
  builder.propose_variables();
  builder.note_gaps();
  return builder.finish();
}

}  // namespace rclrt::trace
