// SPDX-License-Identifier: Apache-2.0
#include "network/message_flows.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

namespace rclrt::analysis::detail {
namespace {

constexpr std::size_t kMostFlows = 200;  // of one message

}  // namespace

MessageFlows::MessageFlows(const model::Application& application)
    : application_(application),
      messages_(model::link_messages(application)),
      rates_(application.rates()) {
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    const model::LinkMessage& each = messages_[m];
    if (each.input) {
      index_[{each.from, each.output, each.to, *each.input}] = m;
    }
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const auto& publishes = application.callbacks[i].publishes;
    for (std::size_t output = 0; output < publishes.size(); ++output) {
      publishers_[publishes[output]].emplace_back(i, output);
    }
  }
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    const Found& found = flows_of(m);
    flows_.push_back(found.flows);
    complete_.push_back(found.complete);
  }
}

const MessageFlows::Found& MessageFlows::flows_of(std::size_t message) {
  const auto known = known_.find(message);
  if (known != known_.end()) {
    return known->second;
  }
  Found found = paths_to(messages_[message].from, messages_[message].output);
  return known_.emplace(message, std::move(found)).first->second;
}

/// Returns the inputs of which a message leads to a message on this output; for a sync, only the
/// one with the lowest rate of those by which chains continue there.
std::vector<std::size_t> MessageFlows::followed_inputs(std::size_t callback,
                                                       std::size_t output) const {
  const model::Callback& own = application_.callbacks[callback];
  const std::vector<std::string> topics = model::inputs(own);
  std::vector<std::size_t> result(topics.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  std::erase_if(result, [&](std::size_t input) { return !own.leads(input, output); });
  if (own.kind() != model::CallbackKind::kSync || result.empty()) {
    return result;
  }
  const auto rate = [&](std::size_t input) {
    double sum = 0;
    for (const auto& [publisher, unused] : publishers_.at(topics[input])) {
      sum += rates_[publisher];
    }
    return sum;
  };
  return {*std::ranges::min_element(result, {}, rate)};
}

const MessageFlows::Found& MessageFlows::paths_to(std::size_t callback, std::size_t output) {
  const auto known = paths_.find({callback, output});
  if (known != paths_.end()) {
    return known->second;
  }
  Found found = find_paths(callback, output);
  return paths_.emplace(std::pair(callback, output), std::move(found)).first->second;
}

MessageFlows::Found MessageFlows::find_paths(std::size_t callback, std::size_t output) {
  const model::Callback& own = application_.callbacks[callback];
  Found result;
  if (!own.takes_messages()) {
    const auto* const event = std::get_if<model::Event>(&own.trigger);
    result.flows.push_back({.entry = {},
                            .callbacks = {callback},
                            .period = model::period(own).count(),
                            .jitter = event != nullptr ? event->jitter.count() : 0});
    return result;
  }
  const std::vector<std::string> topics = model::inputs(own);
  std::set<std::size_t> from;
  const std::vector<std::size_t> followed = followed_inputs(callback, output);
  result.complete = own.kind() != model::CallbackKind::kSync || !followed.empty();
  for (const std::size_t input : followed) {
    for (const auto& [publisher, topic] : publishers_.at(topics[input])) {
      result.complete = result.complete && from.insert(publisher).second;
      if (application_.host_of(publisher) == application_.host_of(callback)) {
        const Found& before = paths_to(publisher, topic);
        result.complete = result.complete && before.complete;
        for (MessageFlow flow : before.flows) {
          flow.callbacks.push_back(callback);
          result.flows.push_back(std::move(flow));
        }
        continue;
      }
      const std::size_t message = index_.at({publisher, topic, callback, input});
      const Found& before = flows_of(message);
      result.complete = result.complete && before.complete;
      for (std::size_t flow = 0; flow < before.flows.size(); ++flow) {
        result.flows.push_back({.entry = FlowId{message, flow},
                                .callbacks = {callback},
                                .period = before.flows[flow].period,
                                .jitter = before.flows[flow].jitter});
      }
    }
  }
  if (result.flows.size() > kMostFlows) {
    result.flows.resize(kMostFlows);
    result.complete = false;
  }
  return result;
}

std::size_t MessageFlows::message_of(const model::Chain& chain, std::size_t n) const {
  const std::size_t from = chain.callbacks.at(n - 1);
  const std::size_t to = chain.callbacks.at(n);
  const auto entries = application_.entries(chain);
  for (const std::size_t input : entries.at(n)) {
    const std::string topic = model::inputs(application_.callbacks[to]).at(input);
    const auto& publishes = application_.callbacks[from].publishes;
    const auto output = std::ranges::find(publishes, topic);
    const auto found =
        index_.find({from, static_cast<std::size_t>(output - publishes.begin()), to, input});
    if (found != index_.end()) {
      return found->second;
    }
  }
  throw std::invalid_argument("chain '" + chain.id + "' is no path");
}

}  // namespace rclrt::analysis::detail
