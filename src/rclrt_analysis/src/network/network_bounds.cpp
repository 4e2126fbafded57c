// SPDX-License-Identifier: Apache-2.0
#include "network/network_bounds.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bounds/chosen_chains.hpp"
#include "bounds/cores.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr int kRoundsOverHosts = 50;

constexpr Ticks kSecond = 1'000'000'000;

/// The most by which the clocks of two hosts differ in rate: 50 ppm each.
constexpr Ticks kDriftPpm = 100;

/// Returns the shortest time that a period of another host's clock may take.
Ticks shortest(Ticks period) {
  return std::max<Ticks>(1, period - ceil_div(product(period, kDriftPpm), 1'000'000));
}

/// Returns the longest time that a time of another host's clock may take.
Ticks longest(Ticks time) { return sum(time, ceil_div(product(time, kDriftPpm), 1'000'000)); }

}  // namespace

NetworkBounds::NetworkBounds(const model::Application& application,
                             const model::ExecutorChoice& executor, const Overheads& overheads,
                             Effort effort)
    : all_(application),
      executor_(executor),
      overheads_(overheads),
      effort_(effort),
      flows_(application),
      waiting_(application.executors.size()),
      changed_(application.hosts.size(), true),
      hops_(flows_.messages().size()),
      conditions_(application.hosts.size()) {
  if (std::ranges::any_of(all_.executors, [](const auto& each) { return !each.host; })) {
    throw std::invalid_argument("an executor states no host, although the application has hosts");
  }
  for (std::size_t host = 0; host < all_.hosts.size(); ++host) {
    parts_.emplace_back(all_, host, flows_, executor_);
  }
  for (std::size_t m = 0; m < flows_.messages().size(); ++m) {
    auto& departures = departures_.emplace_back();
    for (const MessageFlow& flow : flows_.of(m)) {
      departures.push_back({.period = flow.period, .jitter = flow.jitter});
    }
    notes_.emplace_back(departures.size());
    arrivals_.emplace_back(departures.size());
  }
  refuse_waits();
  search();
}

/// Finds the executors with a callback that waits and that exchange messages with others. No bound
/// is proved for them (docs/explanation/bounds.md, "Callbacks that wait"), be it on one host or
/// over a link. The bounds of a host refuse those that share a CPU with them.
void NetworkBounds::refuse_waits() {
  model::Application by_messages = all_;
  for (model::Executor& executor : by_messages.executors) {
    executor.cpus.clear();
    executor.scheduler_cpus.clear();
  }
  const Cores cores(by_messages, CallbackGraph(by_messages), false);
  for (std::size_t i = 0; i < all_.callbacks.size(); ++i) {
    std::string& reason = waiting_[all_.executor_of(i)];
    if (all_.callbacks[i].waits.count() > 0 && reason.empty() &&
        !cores.alone(all_.executor_of(i))) {
      reason = "callback '" + all_.callbacks[i].id +
               "' waits (waits_ms), and no bound is proved for callbacks that wait if executors "
               "exchange messages, on one host or over a link";
    }
  }
}

/// Repeats the rounds until nothing changes. Values only grow; one that grows too far is taken as
/// unknown, and then stays so.
void NetworkBounds::search() {
  for (int round = 0; round < kRoundsOverHosts; ++round) {
    bound_links();
    const bool changed = pass_on();
    if (round > 0 && !changed) {
      return;
    }
    for (std::size_t host = 0; host < parts_.size(); ++host) {
      if (changed_[host]) {
        bound_paths(host);
        changed_[host] = false;
      }
    }
  }
  gave_up_ = true;
  for (auto& departures : departures_) {
    for (Departure& departure : departures) {
      departure.known = false;
    }
  }
  bound_links();
  pass_on();
}

std::vector<ChainBound> NetworkBounds::bounds_of(std::size_t host,
                                                 const std::vector<std::size_t>& only) const {
  bool gave_up = false;
  const HostPart& part = parts_[host];
  std::vector<ChainBound> result =
      bounds_of_chains(part.application(), executor_, overheads_, effort_, only, gave_up);
  for (std::size_t i = 0; i < only.size(); ++i) {
    for (const std::size_t callback : part.application().chains[only[i]].callbacks) {
      const std::string& reason = waiting_[all_.executor_of(part.whole(callback))];
      if (!reason.empty()) {
        ChainBound none;
        none.level = result[i].level;
        none.note = reason;
        result[i] = std::move(none);
        break;
      }
    }
  }
  return result;
}

/// Bounds the paths to the messages that leave the host.
void NetworkBounds::bound_paths(std::size_t host) {
  const HostPart& part = parts_[host];
  std::vector<std::size_t> paths;
  for (std::size_t i = 0; i < part.chains().size(); ++i) {
    if (!part.chains()[i].segment) {
      paths.push_back(i);
    }
  }
  if (paths.empty()) {
    return;
  }
  if (const std::string reason = blocked(host); !reason.empty()) {
    for (const std::size_t path : paths) {
      const FlowId id = part.chains()[path].flow;
      departures_[id.message][id.flow].known = false;
      notes_[id.message][id.flow] = reason;
    }
    return;
  }
  const std::vector<ChainBound> found = bounds_of(host, paths);
  conditions_[host].clear();
  const Ticks hops = overheads_.far.max - overheads_.far.min;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const FlowId id = part.chains()[paths[i]].flow;
    const MessageFlow& flow = flows_.of(id.message)[id.flow];
    Departure& departure = departures_[id.message][id.flow];
    Ticks before = flow.jitter;
    Ticks period = flow.period;
    if (flow.entry) {
      const FlowArrival& arrival = arrivals_[flow.entry->message][flow.entry->flow];
      before = arrival.jitter;
      period = arrival.period;
    }
    departure.period = period;
    for (const std::string& each : found[i].assumptions) {
      if (std::ranges::find(found[i].without_loss, each) == found[i].without_loss.end()) {
        conditions_[host].push_back(each);  // lost messages would make the load less
      }
    }
    // Delays that feed each other grow in each round.
    const Ticks limit = sum(product(std::max(period, flow.period), 50), kSecond);
    if (!found[i].bound) {
      departure.known = false;
      notes_[id.message][id.flow] = found[i].note;
      continue;
    }
    const Ticks jitter = sum(sum(before, *found[i].bound), hops);
    departure.jitter = std::max(departure.jitter, jitter);
    if (departure.jitter > sum(limit, sum(*found[i].bound, hops))) {
      departure.known = false;
      notes_[id.message][id.flow] =
          "the jitter of messages from host to host grows beyond 50 periods and a second";
    }
  }
}

std::vector<std::size_t> NetworkBounds::messages_on(const model::LinkDirection& way) const {
  std::vector<std::size_t> result;
  for (std::size_t m = 0; m < flows_.messages().size(); ++m) {
    if (flows_.messages()[m].way == way) {
      result.push_back(m);
    }
  }
  return result;
}

LinkQueue NetworkBounds::queue_of(const model::LinkDirection& way,
                                  const std::vector<std::size_t>& messages) const {
  const model::NetworkLink& link = all_.links[way.link];
  std::vector<LinkStream> streams;
  for (const std::size_t m : messages) {
    const model::LinkMessage& message = flows_.messages()[m];
    LinkStream stream{.priority = message.priority};
    stream.packets = message.bytes ? link.packets(*message.bytes)
                                   : std::vector<std::size_t>{link.largest_packet()};
    bool is_known = flows_.is_complete(m) && message.bytes;
    for (const Departure& departure : departures_[m]) {
      is_known = is_known && departure.known;
    }
    if (!is_known) {
      streams.push_back(std::move(stream));  // nothing is known of its arrivals
      continue;
    }
    for (const Departure& departure : departures_[m]) {
      stream.period = shortest(departure.period);
      stream.jitter = longest(departure.jitter);
      streams.push_back(stream);
    }
  }
  return {link, way.from, std::move(streams)};
}

void NetworkBounds::bound_links() {
  for (const model::LinkDirection& way : model::link_directions(all_)) {
    const std::vector<std::size_t> messages = messages_on(way);
    if (messages.empty()) {
      continue;
    }
    const model::NetworkLink& link = all_.links[way.link];
    const LinkQueue queue = queue_of(way, messages);
    std::size_t stream = 0;
    std::optional<Ticks> of_all;  // with FIFO, all messages have the same delay
    for (const std::size_t m : messages) {
      hops_[m].least = link.min_latency.count();
      const bool is_fifo = link.order == model::LinkOrder::kFifo;
      std::optional<Ticks> found = is_fifo && of_all ? of_all : queue.delay(stream);
      of_all = found;
      const bool known = queue.knows_stream(stream);
      stream += known ? departures_[m].size() : 1;
      if (!found) {
        hops_[m].delay.reset();
        continue;
      }
      hops_[m].delay = std::max(hops_[m].delay.value_or(0), sum(*found, link.latency.count()));
    }
    const bool has_all =
        std::ranges::all_of(messages, [this](std::size_t m) { return hops_[m].delay.has_value(); });
    if (!has_all && !reasons_.contains({way.link, way.from})) {
      const double load = queue.load();
      reasons_[{way.link, way.from}] = {find_reason(way), load};
    }
  }
}

/// Returns when the messages of a flow arrive at the other host.
FlowArrival NetworkBounds::arrival_of(FlowId flow) const {
  const Hop& hop = hops_[flow.message];
  const Departure& departure = departures_[flow.message][flow.flow];
  if (!hop.delay || !departure.known) {
    return {.period = departure.period, .jitter = 0, .known = false};
  }
  const Ticks varies = sum(*hop.delay - hop.least, overheads_.far.max - overheads_.far.min);
  return {.period = shortest(departure.period), .jitter = longest(sum(departure.jitter, varies))};
}

/// Takes the arrivals of all flows to the parts; returns whether any has changed.
bool NetworkBounds::pass_on() {
  bool changed = false;
  for (std::size_t m = 0; m < arrivals_.size(); ++m) {
    if (!flows_.messages()[m].input) {
      continue;
    }
    const std::size_t host = *all_.host_of(flows_.messages()[m].to);
    for (std::size_t f = 0; f < arrivals_[m].size(); ++f) {
      const FlowArrival arrival = arrival_of({m, f});
      if (arrival == arrivals_[m][f]) {
        continue;
      }
      arrivals_[m][f] = arrival;
      parts_[host].set_arrival({m, f}, arrival);
      changed_[host] = changed = true;
    }
  }
  return changed;
}

std::vector<QueueBound> NetworkBounds::queues() {
  std::vector<QueueBound> result(all_.callbacks.size());
  for (std::size_t host = 0; host < parts_.size(); ++host) {
    if (parts_[host].application().callbacks.empty()) {
      continue;
    }
    const bool is_blocked = !blocked(host).empty();
    const auto found = queue_bounds(parts_[host].application(), executor_, overheads_, effort_);
    for (std::size_t i = 0; i < parts_[host].own_callbacks(); ++i) {
      result[parts_[host].whole(i)] = found[i];
      if (is_blocked || !waiting_[all_.executor_of(parts_[host].whole(i))].empty()) {
        result[parts_[host].whole(i)].pending.reset();
      }
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
