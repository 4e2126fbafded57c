// SPDX-License-Identifier: Apache-2.0
// Which callbacks there are, where they run, what starts them and what they publish.
#include "model_builder.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <numeric>
#include <ranges>
#include <utility>

namespace rclrt::trace {

namespace {

constexpr std::size_t kLongestName = 200;

// What the model takes; a damaged trace may say anything.
constexpr std::int64_t kShortestTime = 1'000;
constexpr std::size_t kDeepestQueue = 10'000;
constexpr std::size_t kMostSyncTopics = 9;
constexpr std::size_t kMostTopics = 100;
constexpr int kMostCpus = 1024;

/// Of tools and of the middleware: no part of what a robot does.
bool is_of_tools(const std::string& topic) {
  return topic == "/rosout" || topic == "/parameter_events";
}

std::string process_name(const TracedSystem& system, std::int64_t pid) {
  for (const TracedThread& thread : system.threads()) {
    if (thread.pid == pid && thread.tid == pid && !thread.name.empty()) {
      return thread.name;
    }
  }
  return "process " + std::to_string(pid);
}

/// Each CPU that the model takes, once.
std::vector<int> allowed(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  cpus.erase(std::ranges::unique(cpus).begin(), cpus.end());
  std::erase_if(cpus, [](int cpu) { return cpu < 0 || cpu >= kMostCpus; });
  return cpus;
}

}  // namespace

std::string as_token(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool fits =
        (std::isalnum(static_cast<unsigned char>(c)) != 0) && static_cast<unsigned char>(c) < 0x80;
    if (fits) {
      name += c;
    } else if (!name.ends_with('_')) {
      name += '_';
    }
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    name = "n" + name;
  }
  name.resize(std::min(name.size(), kLongestName));
  return name;
}

std::string as_topic(std::string_view text) {
  std::string result;
  for (std::size_t at = text.starts_with('/') ? 1 : 0; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    result += "/" + as_token(text.substr(at, slash - at));
    at = slash + 1;
  }
  return result;
}

std::string Names::unique(std::string_view text) {
  std::string name = as_token(text);
  while (name.size() > 1 && name.ends_with('_')) {
    name.pop_back();
  }
  while (name.size() > 1 && name.starts_with('_')) {
    name = as_token(std::string_view(name).substr(1));
  }
  std::string result = name;
  for (int number = 2; !taken_.insert(result).second; ++number) {
    result = (name.ends_with('_') ? name : name + "_") + std::to_string(number);
  }
  return result;
}

const std::string& ModelBuilder::topic(std::uint32_t index) {
  const auto [found, fresh] = topics_.try_emplace(index);
  if (fresh) {
    found->second = as_topic(system_.topic(index));
  }
  return found->second;
}

ModelBuilder::ModelBuilder(const TracedSystem& system, const std::string& name)
    : system_(system), application_(model_.application) {
  application_.name = Names().unique(name);
  collect_runs();
}

void ModelBuilder::choose_callbacks() {
  model_.callback_of.assign(system_.callbacks().size(), kNone);
  std::map<std::uint32_t, int> timers;
  std::size_t idle = 0;
  std::size_t idle_timers = 0;
  for (std::uint32_t i = 0; i < system_.callbacks().size(); ++i) {
    const TracedCallback& traced = system_.callbacks()[i];
    const bool of_tools =
        !traced.inputs.empty() && std::ranges::all_of(traced.inputs, [&](const auto& input) {
          return input.topic != kNone && is_of_tools(topic(input.topic));
        });
    if (runs_[i].times.empty() || of_tools) {
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
  const TracedCallback& callback = system_.callbacks()[traced];
  const bool own_name = !callback.name.empty() && !callback.name.starts_with('/');
  if (callback.priority && own_name && callback.name != "timer") {
    return callback.name;  // rclrt's, which its author chose
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

/// Callbacks that share a thread are of one executor, and so are threads that share a callback.
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
    const std::uint32_t first = *runs_[traced].threads.begin();
    for (const std::uint32_t thread : runs_[traced].threads) {
      group[root(thread)] = root(first);
    }
  }
  std::vector<std::uint32_t> result(system_.callbacks().size(), kNone);
  for (const std::uint32_t traced : traced_of_) {
    result[traced] = root(*runs_[traced].threads.begin());
  }
  return result;
}

void ModelBuilder::place() {
  const std::vector<std::uint32_t> by_thread = executors_by_thread();
  std::set<std::int64_t> processes;
  for (const std::uint32_t traced : traced_of_) {
    processes.insert(system_.callbacks()[traced].pid);
  }
  Names process_names;
  std::map<std::int64_t, std::string> process_of;
  for (const std::int64_t pid : processes) {
    process_of[pid] = processes.size() == 1 ? "" : process_names.unique(process_name(system_, pid));
  }
  Names names;
  std::map<std::pair<bool, std::uint32_t>, std::size_t> executors;
  std::map<std::size_t, std::set<std::uint32_t>> threads;
  executor_of_.assign(system_.callbacks().size(), kNone);
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    const TracedCallback& traced = system_.callbacks()[traced_of_[i]];
    const bool named = traced.executor != kNone;
    const std::uint32_t key = named ? traced.executor : by_thread[traced_of_[i]];
    const auto [found, fresh] = executors.try_emplace({named, key}, application_.executors.size());
    if (fresh) {
      const std::string name =
          named ? system_.executors()[key].name
                : process_of[traced.pid] + "_executor_" + std::to_string(found->second + 1);
      application_.executors.push_back(
          {.name = names.unique(name),
           .cpus = named ? allowed(system_.executors()[key].cpus) : std::vector<int>(),
           .process = process_of[traced.pid]});
    }
    executor_of_[traced_of_[i]] = static_cast<std::uint32_t>(found->second);
    threads[found->second].insert(runs_[traced_of_[i]].threads.begin(),
                                  runs_[traced_of_[i]].threads.end());
    model::Callback& callback = application_.callbacks[i];
    callback.node = node_in_model(traced.node, found->second, traced.pid);
    if (application_.nodes[callback.node].executor != found->second) {
      callback.executor = found->second;
    }
  }
  model_.slot_of.assign(system_.threads().size(), 0);
  for (const auto& [executor, own] : threads) {
    std::uint32_t slot = 0;
    for (const std::uint32_t thread : own) {
      model_.slot_of[thread] = slot++;
    }
  }
}

std::size_t ModelBuilder::node_in_model(std::uint32_t traced_node, std::size_t executor,
                                        std::int64_t pid) {
  const bool known = traced_node != kNone;
  const auto found = known ? nodes_.find(traced_node) : nodes_.end();
  if (found != nodes_.end()) {
    return found->second;
  }
  if (const auto other = nameless_.find(pid); !known && other != nameless_.end()) {
    return other->second;
  }
  const TracedNode node = known ? system_.nodes()[traced_node] : TracedNode{pid, "no_node", "/"};
  const std::string name = node_names_.unique(node.name);
  if (known && name != node.name) {
    model_.notes.push_back("node '" + as_token(node.name) + "' of namespace " +
                           as_topic(node.name_space) + " is called '" + name +
                           "': the model wants names that differ");
  }
  application_.nodes.push_back(
      {.name = name,
       .name_space = node.name_space.size() < 2 ? "/" : as_topic(node.name_space),
       .executor = executor});
  const std::size_t index = application_.nodes.size() - 1;
  if (known) {
    nodes_[traced_node] = index;
  } else {
    nameless_[pid] = index;
  }
  return index;
}

void ModelBuilder::connect() {
  model_.stands_for_other.assign(application_.callbacks.size(), false);
  for (std::size_t i = 0; i < traced_of_.size(); ++i) {
    set_trigger(i);
    model::Callback& callback = application_.callbacks[i];
    const TracedCallback& traced = system_.callbacks()[traced_of_[i]];
    std::vector<std::uint32_t> topics;
    for (const auto& [input, output] : traced.outputs) {
      if (!is_of_tools(topic(output)) && std::ranges::find(topics, output) == topics.end()) {
        topics.push_back(output);
        callback.publishes.push_back(topic(output));
      }
    }
    const std::vector<std::string> taken = model::inputs(callback);
    if (taken.size() < 2 || callback.kind() != model::CallbackKind::kSubscription) {
      continue;
    }
    // Messages of each topic are answered on what was published for them.
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

void ModelBuilder::set_trigger(std::size_t index) {
  const std::uint32_t number = traced_of_[index];
  const TracedCallback& traced = system_.callbacks()[number];
  model::Callback& callback = application_.callbacks[index];
  if (traced.kind == TriggerKind::kTimer && traced.period_ns > 0 &&
      traced.period_ns <= kLongestTime) {
    callback.trigger = model::Timer{.period = model::Nanoseconds(traced.period_ns)};
    return;
  }
  std::vector<std::string> topics;
  std::size_t depth = 1;
  std::string outside;
  for (const TracedInput& input : traced.inputs) {
    if (input.topic != kNone && published_.contains(input.topic)) {
      if (std::ranges::find(topics, topic(input.topic)) == topics.end() &&
          topics.size() < (traced.sync_window_ns ? kMostSyncTopics : kMostTopics)) {
        topics.push_back(topic(input.topic));
      }
      depth = std::clamp(input.depth, depth, kDeepestQueue);
    } else {
      outside += (outside.empty() ? "" : ", ") +
                 (input.topic == kNone ? std::string("?") : topic(input.topic));
    }
  }
  if (topics.empty()) {
    callback.trigger = event_of(number);
    model_.stands_for_other[index] = true;
    model_.notes.push_back(
        "callback '" + callback.id + "' " +
        (traced.kind == TriggerKind::kService ? "answers requests, which have no tracepoint"
         : traced.inputs.empty()
             ? "is started by what has no tracepoint"
             : "takes " + outside + ", which no callback of the trace publishes") +
        ": it is an event, with the intervals that were seen");
    return;
  }
  if (!outside.empty()) {
    model_.notes.push_back("callback '" + callback.id + "' also takes " + outside +
                           ", which no callback of the trace publishes: left out");
  }
  if (traced.sync_window_ns && topics.size() > 1) {
    const bool exact = *traced.sync_window_ns <= 0;
    callback.trigger = model::Sync{
        .topics = topics,
        .policy = exact ? model::SyncPolicy::kExact : model::SyncPolicy::kApproximate,
        .window = model::Nanoseconds(exact ? 0 : std::min(*traced.sync_window_ns, kLongestTime)),
        .depth = depth};
  } else {
    callback.trigger = model::Subscription{.topics = topics, .depth = depth};
  }
}

model::Event ModelBuilder::event_of(std::uint32_t traced) const {
  const auto& times = runs_[traced].times;
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    least = std::min(least, times[i].first - times[i - 1].first);
    most = std::max(most, times[i].first - times[i - 1].first);
  }
  const std::int64_t seen = system_.last_ns() - times.front().first;
  const auto in_range = [](std::int64_t time) {
    return model::Nanoseconds(std::clamp(time, kShortestTime, kLongestTime));
  };
  return {.min_interval = in_range(times.size() > 1 ? least : seen),
          .max_interval = in_range(times.size() > 1 ? most : seen),
          .offset = {},
          .depth = 10,
          .seed = 0};
}

TracedModel build_model(const TracedSystem& system, const std::string& name) {
  ModelBuilder builder(system, name);
  builder.choose_callbacks();
  builder.place();
  builder.connect();
  builder.break_cycles();
  builder.add_timing();
  builder.add_chains();
  builder.note_gaps();
  return builder.finish();
}

}  // namespace rclrt::trace
