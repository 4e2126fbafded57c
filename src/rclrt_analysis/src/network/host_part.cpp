// SPDX-License-Identifier: Apache-2.0
#include "network/host_part.hpp"

#include <algorithm>
#include <rclrt/model/no_deadline.hpp>
#include <string>
#include <utility>

#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr int kFirstOtherCpu = 1 << 20;  // above those of any machine

}  // namespace

HostPart::HostPart(const model::Application& application, std::size_t host,
                   const MessageFlows& flows, const model::ExecutorChoice& executor)
    : all_(application), host_(host), flows_(flows), by_deadline_(traits(executor).by_deadline) {
  part_.name = application.name;
  part_.threads = application.threads;
  part_.topics = application.topics;
  add_executors();
  add_callbacks();
  add_arrivals();
  add_segments();
  add_paths();
}

void HostPart::add_executors() {
  for (std::size_t i = 0; i < all_.executors.size(); ++i) {
    if (all_.executors[i].host != host_) {
      continue;
    }
    executor_of_[i] = part_.executors.size();
    model::Executor& own = part_.executors.emplace_back(all_.executors[i]);
    own.host.reset();
    if (own.cpus.empty()) {
      own.cpus = all_.hosts[host_].cpus;
    }
  }
}

void HostPart::add_callbacks() {
  std::map<std::size_t, std::size_t> node_of;
  for (std::size_t i = 0; i < all_.callbacks.size(); ++i) {
    if (all_.host_of(i) != host_) {
      continue;
    }
    part_of_[i] = whole_.size();
    whole_.push_back(i);
    model::Callback& own = part_.callbacks.emplace_back(all_.callbacks[i]);
    const auto [node, is_new] = node_of.try_emplace(own.node, part_.nodes.size());
    if (is_new) {
      part_.nodes.push_back(all_.nodes[own.node]);
      part_.nodes.back().executor = executor_of_.at(all_.nodes[own.node].executor);
    }
    own.node = node->second;
    if (own.executor) {
      own.executor = executor_of_.at(*own.executor);
    }
    own.priority = all_.effective_priority(i);
  }
}

bool HostPart::is_direct(std::size_t message) const {
  const model::LinkMessage& own = flows_.messages()[message];
  const model::Callback& taker = all_.callbacks[own.to];
  const auto* const subscription = std::get_if<model::Subscription>(&taker.trigger);
  if (subscription == nullptr || subscription->role != model::Role::kTopic ||
      subscription->topics.size() != 1 || flows_.of(message).size() != 1 ||
      (by_deadline_ && !taker.deadline)) {
    return false;
  }
  return std::ranges::count_if(all_.callbacks, [&](const model::Callback& each) {
           return std::ranges::find(each.publishes, subscription->topics.front()) !=
                  each.publishes.end();
         }) == 1;
}

void HostPart::add_arrivals() {
  for (std::size_t message = 0; message < flows_.messages().size(); ++message) {
    const model::LinkMessage& each = flows_.messages()[message];
    if (!each.input || all_.host_of(each.to) != host_) {
      continue;
    }
    for (std::size_t flow = 0; flow < flows_.of(message).size(); ++flow) {
      add_event({message, flow});
    }
  }
}

/// Adds the event of a flow: the callback that takes the message, or one that takes no time, on a
/// CPU of its own, and publishes the message's topic.
void HostPart::add_event(FlowId flow) {
  const model::LinkMessage& message = flows_.messages()[flow.message];
  const std::size_t taker = part_of_.at(message.to);
  if (is_direct(flow.message)) {
    model::Callback& own = part_.callbacks[taker];
    const std::size_t depth = std::get<model::Subscription>(own.trigger).depth;
    own.trigger = model::Event{.depth = depth};
    own.routes.clear();
    events_[flow] = {.callback = taker, .arrival = {}};
  } else {
    const auto number = static_cast<int>(events_.size());
    const std::string name = "arrival " + std::to_string(number);  // no name of a file has blanks
    part_.executors.push_back({.name = name, .cpus = {kFirstOtherCpu + number}, .process = name});
    part_.nodes.push_back(
        {.name = name, .name_space = "/", .executor = part_.executors.size() - 1});
    model::Callback event{.id = all_.callbacks[message.to].id, .node = part_.nodes.size() - 1};
    event.trigger = model::Event{.depth = 10'000};
    event.publishes = {topic_for(taker, *message.input)};
    event.priority = part_.callbacks[taker].priority;
    events_[flow] = {.callback = part_.callbacks.size(), .arrival = {}};
    part_.callbacks.push_back(std::move(event));
    whole_.push_back(message.to);
  }
  const Ticks period = flows_.of(flow.message)[flow.flow].period;
  set_arrival(flow, {.period = period});
}

/// Returns the topic of an input that takes messages from other hosts. If other callbacks of this
/// host take the same topic, the input gets a topic of its own, because each of them gets a message
/// of its own over the link.
std::string HostPart::topic_for(std::size_t taker, std::size_t input) {
  auto* const subscription = std::get_if<model::Subscription>(&part_.callbacks[taker].trigger);
  auto& topics = subscription != nullptr
                     ? subscription->topics
                     : std::get<model::Sync>(part_.callbacks[taker].trigger).topics;
  std::string topic = topics[input];
  const auto takes = [&](const model::Callback& each) {
    const std::vector<std::string> all = model::inputs(each);
    return std::ranges::find(all, topic) != all.end();
  };
  if (topic.find(' ') != std::string::npos || std::ranges::count_if(part_.callbacks, takes) == 1) {
    return topic;
  }
  const std::string own = topic + " to " + part_.callbacks[taker].id;
  topics[input] = own;
  for (model::Callback& each : part_.callbacks) {
    const auto found = std::ranges::find(each.publishes, topic);
    if (found == each.publishes.end()) {
      continue;
    }
    const auto output = static_cast<std::size_t>(found - each.publishes.begin());
    for (auto& route : each.routes) {
      if (std::ranges::find(route, output) != route.end()) {
        route.push_back(each.publishes.size());
      }
    }
    each.publishes.push_back(own);
  }
  return own;
}

void HostPart::set_arrival(FlowId flow, const FlowArrival& arrival) {
  ArrivalEvent& own = events_.at(flow);
  own.arrival = arrival;
  auto& event = std::get<model::Event>(part_.callbacks[own.callback].trigger);
  event.period = model::Nanoseconds(arrival.period);
  event.jitter = model::Nanoseconds(arrival.jitter);
  event.min_interval = model::Nanoseconds(std::max<Ticks>(1, arrival.period - arrival.jitter));
  event.max_interval = model::Nanoseconds(sum(arrival.period, arrival.jitter));
}

/// Returns whether a message from another host leads to the callback.
bool HostPart::is_from_other_host(std::size_t callback,
                                  std::vector<std::optional<bool>>& known) const {
  if (known[callback]) {
    return *known[callback];
  }
  bool result = std::ranges::any_of(
      events_, [&](const auto& each) { return each.second.callback == callback; });
  const std::vector<std::string> topics = model::inputs(part_.callbacks[callback]);
  for (std::size_t from = 0; from < part_.callbacks.size() && !result; ++from) {
    const auto& publishes = part_.callbacks[from].publishes;
    result = std::ranges::find_first_of(publishes, topics) != publishes.end() &&
             is_from_other_host(from, known);
  }
  known[callback] = result;
  return result;
}

std::optional<std::size_t> HostPart::sync_over_hosts() const {
  std::vector<std::optional<bool>> known(part_.callbacks.size());
  for (std::size_t i = 0; i < own_callbacks(); ++i) {
    if (part_.callbacks[i].kind() == model::CallbackKind::kSync && is_from_other_host(i, known)) {
      return whole_[i];
    }
  }
  return std::nullopt;
}

void HostPart::add_chain(const model::Chain& like, std::vector<std::size_t> callbacks,
                         PartChain chain) {
  part_.chains.push_back(like);
  part_.chains.back().callbacks = std::move(callbacks);
  chains_.push_back(chain);
}

/// Adds the segments of all chains on this host.
void HostPart::add_segments() {
  for (std::size_t c = 0; c < all_.chains.size(); ++c) {
    const auto& path = all_.chains[c].callbacks;
    std::size_t end = 0;
    for (std::size_t first = 0; first < path.size(); first = end) {
      for (end = first + 1;
           end < path.size() && all_.host_of(path[end]) == all_.host_of(path[first]); ++end) {
      }
      if (all_.host_of(path[first]) != host_) {
        continue;
      }
      std::vector<std::size_t> own;
      for (std::size_t n = first; n < end; ++n) {
        own.push_back(part_of_.at(path[n]));
      }
      const PartChain segment{.segment = PartChain::Segment{c, first}};
      if (first == 0) {
        add_chain(all_.chains[c], own, segment);
        continue;
      }
      const std::size_t message = flows_.message_of(all_.chains[c], first);
      for (std::size_t flow = 0; flow < flows_.of(message).size(); ++flow) {
        std::vector<std::size_t> callbacks = own;
        if (!is_direct(message)) {
          callbacks.insert(callbacks.begin(), events_.at({message, flow}).callback);
        }
        add_chain(all_.chains[c], std::move(callbacks), segment);
      }
    }
  }
}

/// Adds the paths to the messages that leave this host.
void HostPart::add_paths() {
  for (std::size_t message = 0; message < flows_.messages().size(); ++message) {
    if (all_.host_of(flows_.messages()[message].from) != host_) {
      continue;
    }
    for (std::size_t flow = 0; flow < flows_.of(message).size(); ++flow) {
      const MessageFlow& own = flows_.of(message)[flow];
      std::vector<std::size_t> callbacks;
      if (own.entry && !is_direct(own.entry->message)) {
        callbacks.push_back(events_.at(*own.entry).callback);
      }
      for (const std::size_t callback : own.callbacks) {
        callbacks.push_back(part_of_.at(callback));
      }
      const model::Chain like{.id = "path of a message", .deadline = model::kNoDeadline};
      add_chain(like, std::move(callbacks), {.segment = {}, .flow = {message, flow}});
    }
  }
}

}  // namespace rclrt::analysis::detail
