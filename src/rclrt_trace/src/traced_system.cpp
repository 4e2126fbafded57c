// SPDX-License-Identifier: Apache-2.0
// Entities of a trace: nodes, publishers, subscriptions, timers, services and their callbacks.
#include "traced_system.hpp"

#include <algorithm>
#include <rclrt/text/number.hpp>

namespace rclrt::trace {

namespace {

/// Returns the value of a key, or `none` if the map lacks it.
template <typename Map, typename Value>
Value find_or(const Map& map, const typename Map::key_type& key, Value none) {
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

/// Reads a comma-separated list of numbers. Skips parts that are no numbers.
std::vector<int> read_cpus(std::string_view text) {
  std::vector<int> result;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const auto cpu = text::parse_number<int>(text.substr(0, comma))) {
      result.push_back(*cpu);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return result;
}

}  // namespace

void TracedSystem::take(const TraceEvent& of_trace) {
  TraceEvent event = of_trace;
  if (!is_scheduling(event.kind)) {  // switches continue when no callback is left
    last_ns_ = event.time_ns;
    const bool is_event = event.kind != EventKind::kLoss && event.kind != EventKind::kDamage;
    event.pid = is_event ? process_of(event) : 0;
  }
  // Before Jazzy, rmw_publish had neither publisher nor time. rcl_publish has the publisher.
  gaps_.incomplete_events += event.complete || event.kind == EventKind::kRmwPublish ? 0 : 1;
  switch (event.kind) {
    case EventKind::kCallbackStart:
      return start(event);
    case EventKind::kCallbackEnd:
      return end(event);
    case EventKind::kLoss:
      ++gaps_.losses;
      forget_running();
      [[fallthrough]];
    case EventKind::kDamage:
      lost_times_.push_back({static_cast<std::int64_t>(event.numbers[1]),
                             static_cast<std::int64_t>(event.numbers[0])});
      return;
    case EventKind::kThreadSwitch:
    case EventKind::kKernelSwitch:
    case EventKind::kSwitchesLost:
      return take_switch(event);
    case EventKind::kCallbackAdded:
    case EventKind::kSynchronizerInput:
    case EventKind::kExecutorCallback:
    case EventKind::kExecutorEntity:
    case EventKind::kCallbackRelease:
      return take_rclrt(event);
    case EventKind::kMessageLink:
      return add_link(event);
    case EventKind::kValueStored:
    case EventKind::kValueRead:
      return take_value(event);
    default:
      return is_creation(event.kind) ? take_entity(event) : take_message(event);
  }
}

/// Returns the index of the process, which it adds at the first event.
std::int64_t TracedSystem::process_of(const TraceEvent& event) {
  const auto [found, fresh] = process_numbers_.try_emplace(
      {event.space, event.pid}, static_cast<std::int64_t>(processes_.size()));
  if (fresh) {
    processes_.push_back({event.space, event.pid, event.time_ns, event.time_ns, event.host});
    busy_threads_.emplace_back();
  }
  processes_[static_cast<std::size_t>(found->second)].last_ns = event.time_ns;
  return found->second;
}

void TracedSystem::take_entity(const TraceEvent& event) {
  const auto handle = [&](std::size_t i) { return Handle{event.pid, event.numbers[i]}; };
  switch (event.kind) {
    case EventKind::kNodeInit:
      node_handles_[handle(0)] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(
          {event.pid, std::string(event.texts[0]), std::string(event.texts[1]), event.time_ns});
      break;
    case EventKind::kPublisherInit: {
      const std::uint32_t topic = topic_of(event.texts[0]);
      topics_with_publisher_.insert(topic);
      publishers_[handle(0)] = {.node = node_of(handle(1)), .topic = topic};
      rmw_publishers_[handle(2)] = topic;
      break;
    }
    case EventKind::kSubscriptionInit: {
      const std::uint32_t topic = topic_of(event.texts[0]);
      subscriptions_[handle(0)] = {node_of(handle(1)), topic, event.numbers[3]};
      rmw_subscriptions_[handle(2)] = {topic, event.numbers[0]};
      by_subscription_.erase(handle(0));  // of an earlier subscription at this address
      break;
    }
    case EventKind::kSubscriptionObject:
    case EventKind::kSubscriptionCallback:
      pair_subscription(event);
      break;
    case EventKind::kServiceInit:
      services_[handle(0)] = {node_of(handle(1)), std::string(event.texts[0])};
      break;
    case EventKind::kServiceCallback: {
      const std::uint32_t index = new_callback(handle(1), event.time_ns);
      by_service_[handle(0)] = index;
      TracedCallback& callback = callbacks_[index];
      const Service service = find_or(services_, handle(0), Service{});
      callback.kind = TriggerKind::kService;
      callback.node = service.node;
      callback.name = service.name;
      break;
    }
    case EventKind::kTimerInit:
      timers_[handle(0)] = {event.time_ns, static_cast<std::int64_t>(event.numbers[1])};
      break;
    case EventKind::kTimerCallback: {
      Timer& timer = timers_[handle(0)];
      timer.callback = new_callback(handle(1), event.time_ns);
      TracedCallback& callback = callbacks_[timer.callback];
      callback.kind = TriggerKind::kTimer;
      callback.created_ns = timer.created_ns;
      callback.period_ns = timer.period_ns;
      break;
    }
    case EventKind::kTimerNode:
      if (const Timer timer = find_or(timers_, handle(0), Timer{}); timer.callback != kNone) {
        callbacks_[timer.callback].node = node_of(handle(1));
      }
      break;
    default:
      break;
  }
}

/// Adds what a node states about its subscriptions and publishers. It does so after it has made
/// them.
void TracedSystem::add_link(const TraceEvent& event) {
  MessageLink link{.process = event.pid};
  for (const std::uint64_t handle : event.lists[0]) {
    const std::uint32_t callback = find_or(by_subscription_, Handle{event.pid, handle}, kNone);
    if (callback == kNone) {
      ++gaps_.unknown_links;
    } else {
      link.callbacks.insert(callback);
    }
  }
  for (const std::uint64_t handle : event.lists[1]) {
    const Endpoint publisher = find_or(publishers_, Handle{event.pid, handle}, Endpoint{});
    if (publisher.topic == kNone) {
      ++gaps_.unknown_links;
    } else {
      link.outputs.emplace(publisher.node, publisher.topic);
    }
  }
  if (std::ranges::find(links_, link) == links_.end()) {  // a node may state it in each callback
    links_.push_back(std::move(link));
  }
}

/// Links the rcl handle and the callback of an rclcpp object. Their events come in either order.
void TracedSystem::pair_subscription(const TraceEvent& event) {
  const bool has_handle = event.kind == EventKind::kSubscriptionObject;
  const Handle object{event.pid, event.numbers[has_handle ? 1 : 0]};
  const Handle said{event.pid, event.numbers[has_handle ? 0 : 1]};
  const auto other = unpaired_.find(object);
  if (other == unpaired_.end() || other->second.has_handle == has_handle) {
    unpaired_[object] = {said, has_handle};
    return;
  }
  const Handle before = other->second.said;
  unpaired_.erase(other);
  link_subscription(has_handle ? before : said, has_handle ? said : before, event.time_ns);
}

void TracedSystem::take_rclrt(const TraceEvent& event) {
  const auto handle = [&](std::size_t i) { return Handle{event.pid, event.numbers[i]}; };
  switch (event.kind) {
    case EventKind::kCallbackAdded:
      add_rclrt_callback(event);
      break;
    case EventKind::kSynchronizerInput:
      add_synchronizer_input(event);
      break;
    case EventKind::kExecutorCallback:
      callbacks_[callback_of(handle(1), event.time_ns)].executor = executor_of(event);
      break;
    case EventKind::kExecutorEntity:
      add_entity_to_executor(event);
      break;
    default: {  // the release for the next start
      Thread& thread = thread_of(event);
      thread.released = event.numbers[0];
      thread.release_ns = static_cast<std::int64_t>(event.numbers[1]);
      thread.ready_ns = static_cast<std::int64_t>(event.numbers[2]);
    }
  }
}

/// Assigns a callback to its executor by its rcl handle, because the event of an rclrt_rclcpp
/// executor does not contain the callback itself.
void TracedSystem::add_entity_to_executor(const TraceEvent& event) {
  const Handle entity{event.pid, event.numbers[1]};
  std::uint32_t index = find_or(by_subscription_, entity, kNone);
  if (index == kNone) {
    index = find_or(timers_, entity, Timer{}).callback;
  }
  if (index == kNone) {
    index = find_or(by_service_, entity, kNone);
  }
  if (index == kNone) {
    return;
  }
  TracedCallback& callback = callbacks_[index];
  callback.executor = executor_of(event);
  callback.priority = static_cast<int>(static_cast<std::int64_t>(event.numbers[2]));
  callback.group = event.numbers[3];
  callback.reentrant = event.numbers[4] != 0;
  callback.deadline_ns = static_cast<std::int64_t>(event.numbers[5]);
}

/// Adds an input to a synchroniser. All inputs of a synchroniser are created before the first is
/// added. So an input that was created later belongs to a later synchroniser at the same address.
void TracedSystem::add_synchronizer_input(const TraceEvent& event) {
  const Handle pointer{event.pid, event.numbers[1]};
  const std::uint32_t own = callback_of(pointer, event.time_ns);
  Synchronizer& synchronizer = synchronizers_[{event.pid, event.numbers[0]}];
  if (synchronizer.callback == kNone || callbacks_[own].created_ns > synchronizer.last_ns) {
    synchronizer.callback = own;
  } else {
    join(synchronizer.callback, pointer);
  }
  synchronizer.last_ns = event.time_ns;
  callbacks_[synchronizer.callback].sync_window_ns = static_cast<std::int64_t>(event.numbers[2]);
}

void TracedSystem::add_rclrt_callback(const TraceEvent& event) {
  rclrt_processes_.insert(event.pid);
  const Handle pointer{event.pid, event.numbers[0]};
  // A callback of an rcl entity was already created by an event of ROS.
  const bool of_ros = event.texts[1] != "client" && event.texts[1] != "guard condition";
  const std::uint32_t index =
      of_ros ? callback_of(pointer, event.time_ns) : new_callback(pointer, event.time_ns);
  TracedCallback& callback = callbacks_[index];
  if (event.numbers[1] != 0) {
    callback.node = node_of({event.pid, event.numbers[1]});
  }
  callback.name = event.texts[0];
  if (event.texts[1] == "service") {
    callback.kind = TriggerKind::kService;
  }
  callback.priority = static_cast<int>(static_cast<std::int64_t>(event.numbers[2]));
  callback.group = event.numbers[3];
  callback.reentrant = event.numbers[4] != 0;
  callback.deadline_ns = static_cast<std::int64_t>(event.numbers[5]);
  // Subscriptions of a node with the same name and group share a callback for several topics.
  const std::string key =
      std::to_string(callback.node) + " " + std::to_string(callback.group) + " " + callback.name;
  if (event.texts[1] == "subscription" && callback.node != kNone) {
    if (const auto [found, first] = by_name_.try_emplace({event.pid, key}, index); !first) {
      join(found->second, pointer);
    }
  }
}

/// Adds the pointer to the callback `into`. Its callback so far is left empty.
void TracedSystem::join(std::uint32_t into, const Handle& pointer) {
  const std::uint32_t from = pointers_[pointer];
  if (from == into) {
    return;
  }
  TracedCallback& source = callbacks_[from];
  TracedCallback& target = callbacks_[into];
  target.inputs.insert(target.inputs.end(), source.inputs.begin(), source.inputs.end());
  target.samples.insert(source.samples.begin(), source.samples.end());
  source = {};
  const auto redirect = [&](std::uint32_t& index) { index = index == from ? into : index; };
  for (auto& [handle, index] : by_subscription_) {
    redirect(index);
  }
  for (auto& [name, index] : by_name_) {
    redirect(index);
  }
  for (auto& [handle, synchronizer] : synchronizers_) {
    redirect(synchronizer.callback);
  }
  for (MessageLink& link : links_) {
    if (link.callbacks.erase(from) > 0) {
      link.callbacks.insert(into);
    }
  }
  for (StoredValue& value : stored_values_) {
    for (std::set<std::uint32_t>* const callbacks : {&value.writers, &value.readers}) {
      if (callbacks->erase(from) > 0) {
        callbacks->insert(into);
      }
    }
  }
  pointers_[pointer] = into;
}

void TracedSystem::link_subscription(const Handle& pointer, const Handle& subscription,
                                     std::int64_t time_ns) {
  // rclcpp has a second pointer, for intra-process messages.
  if (const auto known = by_subscription_.find(subscription); known != by_subscription_.end()) {
    pointers_[pointer] = known->second;
    return;
  }
  const std::uint32_t index = new_callback(pointer, time_ns);
  by_subscription_[subscription] = index;
  TracedCallback& callback = callbacks_[index];
  const Endpoint endpoint = find_or(subscriptions_, subscription, Endpoint{});
  callback.kind = TriggerKind::kSubscription;
  callback.node = endpoint.node;
  callback.inputs = {{endpoint.topic, endpoint.depth}};
}

std::uint32_t TracedSystem::executor_of(const TraceEvent& event) {
  const Handle handle{event.pid, event.numbers[0]};
  const auto known = executor_handles_.find(handle);
  if (known != executor_handles_.end() && executors_[known->second].name == event.texts[0]) {
    return known->second;
  }
  executors_.push_back({event.pid, std::string(event.texts[0]), read_cpus(event.texts[1])});
  return executor_handles_[handle] = static_cast<std::uint32_t>(executors_.size() - 1);
}

std::uint32_t TracedSystem::topic_of(std::string_view name) {
  const auto found = topics_.find(name);
  if (found != topics_.end()) {
    return found->second;
  }
  const auto index = static_cast<std::uint32_t>(topic_names_.size());
  topic_names_.emplace_back(name);
  publication_times_.emplace_back();
  publication_counts_.emplace_back();
  topics_.emplace(name, index);
  return index;
}

std::uint32_t TracedSystem::node_of(const Handle& handle) const {
  return find_or(node_handles_, handle, kNone);
}

std::uint32_t TracedSystem::new_callback(const Handle& pointer, std::int64_t time_ns) {
  pointers_.erase(pointer);
  return callback_of(pointer, time_ns);
}

std::uint32_t TracedSystem::callback_of(const Handle& pointer, std::int64_t time_ns) {
  const auto [found, fresh] =
      pointers_.try_emplace(pointer, static_cast<std::uint32_t>(callbacks_.size()));
  if (fresh) {
    callbacks_.push_back({.process = pointer.first, .created_ns = time_ns});
  }
  return found->second;
}

TracedSystem::Thread& TracedSystem::thread_of(const TraceEvent& event) {
  const auto [found, fresh] =
      thread_states_.try_emplace(Handle{event.pid, static_cast<std::uint64_t>(event.tid)});
  if (fresh) {
    const auto [of_tid, only] = thread_of_tid_.try_emplace(event.tid, found->first);
    if (!only && of_tid->second) {
      const auto space = [&](std::int64_t process) {
        return processes_[static_cast<std::size_t>(process)].space;
      };
      of_tid->second =
          space(of_tid->second->first) == event.space ? std::optional(found->first) : std::nullopt;
    }
    found->second.index = static_cast<std::uint32_t>(threads_.size());
    threads_.push_back({event.pid, event.tid, std::string(event.thread)});
  }
  return found->second;
}

}  // namespace rclrt::trace
