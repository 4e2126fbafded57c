// SPDX-License-Identifier: Apache-2.0
// The bounds of chains over hosts, and of links, from those of the hosts' parts.
#include <algorithm>
#include <cmath>
#include <rclrt/model/warnings.hpp>
#include <utility>

#include "bounds/cores.hpp"
#include "demand.hpp"
#include "network/network_bounds.hpp"
#include "rclrt/model/services.hpp"

namespace rclrt::analysis::detail {
namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string percent_of(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

std::string described(const model::Application& application, const model::LinkDirection& way) {
  return "link " + quoted(application.links[way.link].name) + " from " +
         quoted(application.hosts[way.from].name) + " to " + quoted(application.hosts[way.to].name);
}

void add_missing(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    // An arrival has a CPU of its own, which no executor of the application has.
    const bool is_of_arrival = each.find("'arrival ") != std::string::npos;
    if (!is_of_arrival && std::ranges::find(all, each) == all.end()) {
      all.push_back(each);
    }
  }
}

}  // namespace

/// Returns why the host has no bounds: all of its callbacks may wait for those that a message from
/// another host releases. Else returns an empty text.
std::string NetworkBounds::blocked(std::size_t host) const {
  if (const auto sync = parts_[host].sync_over_hosts()) {
    return "sync " + quoted(all_.callbacks[*sync].id) +
           " matches messages of another host by their stamps, which no bound covers yet";
  }
  for (std::size_t m = 0; m < flows_.messages().size(); ++m) {
    const model::LinkMessage& message = flows_.messages()[m];
    if (!message.input || all_.host_of(message.to) != host) {
      continue;
    }
    const bool known = std::ranges::all_of(arrivals_[m], &FlowArrival::known);
    if (!message.way || !flows_.is_complete(m) || !known) {
      return why_not(m);
    }
  }
  return {};
}

/// Returns whether messages of other hosts arrive at the host: its bounds then rest on theirs.
bool NetworkBounds::receives(std::size_t host) const {
  return std::ranges::any_of(flows_.messages(), [&](const model::LinkMessage& each) {
    return each.input && all_.host_of(each.to) == host;
  });
}

/// Returns the share of each topic, and of other traffic, in the load of a link.
std::string NetworkBounds::shares(const model::LinkDirection& way) const {
  const model::NetworkLink& link = all_.links[way.link];
  const std::uint64_t rate = link.shaper ? link.shaper->rate_kbit : link.rate_kbit;
  std::vector<std::pair<double, std::string>> all;
  for (const std::size_t m : messages_on(way)) {
    const model::LinkMessage& message = flows_.messages()[m];
    double share = 0;
    for (const Departure& departure : departures_[m]) {
      for (const std::size_t packet : link.packets(message.bytes.value_or(0))) {
        share +=
            static_cast<double>(time_on_line(packet, rate)) / static_cast<double>(departure.period);
      }
    }
    const std::string& topic = all_.callbacks[message.from].publishes[message.output];
    const auto same =
        std::ranges::find(all, quoted(topic), &std::pair<double, std::string>::second);
    if (same != all.end()) {
      same->first += share;
    } else {
      all.emplace_back(share, quoted(topic));
    }
  }
  double other = 0;
  for (const model::CrossTraffic& each : link.cross_traffic) {
    other +=
        each.from == way.from ? static_cast<double>(each.rate_kbit) / static_cast<double>(rate) : 0;
  }
  if (other > 0) {
    all.emplace_back(other, "cross traffic");
  }
  std::ranges::stable_sort(all, std::greater{}, &std::pair<double, std::string>::first);
  std::string text;
  for (const auto& [share, name] : all) {
    text += (text.empty() ? "" : ", ") + name + " " + percent_of(share);
  }
  return text;
}

std::string NetworkBounds::why_unbounded(const model::LinkDirection& way) const {
  const auto found = reasons_.find({way.link, way.from});
  return found != reasons_.end() ? found->second.first : find_reason(way);
}

/// Returns why a link has no bound now.
std::string NetworkBounds::find_reason(const model::LinkDirection& way) const {
  const std::vector<std::size_t> messages = messages_on(way);
  const std::string where = described(all_, way);
  for (const std::size_t m : messages) {
    const model::LinkMessage& message = flows_.messages()[m];
    const std::string topic = quoted(all_.callbacks[message.from].publishes[message.output]);
    if (!message.bytes &&
        model::is_service_topic(all_.callbacks[message.from].publishes[message.output])) {
      return where +
             " has no bound: services between hosts have none, because the size of their messages "
             "cannot be stated";
    }
    if (!message.bytes) {
      return where + " has no bound: the size of topic " + topic +
             " is not stated; add topics: [{name: " +
             all_.callbacks[message.from].publishes[message.output] + ", size_bytes: ...}]";
    }
    if (!flows_.is_complete(m)) {
      return where + " has no bound: there are too many ways to messages of topic " + topic;
    }
    for (std::size_t flow = 0; flow < departures_[m].size(); ++flow) {
      if (!departures_[m][flow].known) {
        return where + " has no bound, because topic " + topic + " has none at its publisher: " +
               (gave_up_ ? "the search over all hosts was given up" : notes_[m][flow]);
      }
    }
  }
  const LinkQueue queue = queue_of(way, messages);
  const model::NetworkLink& link = all_.links[way.link];
  const std::uint64_t rate = link.shaper ? link.shaper->rate_kbit : link.rate_kbit;
  const auto needed =
      static_cast<std::uint64_t>(std::ceil(queue.load() * static_cast<double>(rate) / 0.95));
  return where + " has an unbounded backlog: its traffic needs " +
         percent_of(std::ceil(queue.load() * 100 - 1e-9) / 100) + " of its rate (" + shares(way) +
         "); a " + (link.shaper ? "shaper's " : "") + "rate_kbit of at least " +
         std::to_string(needed) + ", smaller messages, or longer periods would help";
}

std::string NetworkBounds::why_not(std::size_t message) const {
  const model::LinkMessage& own = flows_.messages()[message];
  const std::string& topic = all_.callbacks[own.from].publishes[own.output];
  if (!own.way) {
    const std::string& from = all_.hosts[*all_.host_of(own.from)].name;
    const std::string& to = all_.hosts[*all_.host_of(own.to)].name;
    return "topic " + quoted(topic) + " goes from host " + quoted(from) + " to host " + quoted(to) +
           ", and no link joins them; add links: [{name: cable, between: [" + from + ", " + to +
           "], rate_kbit: ...}]";
  }
  return why_unbounded(*own.way);
}

/// Adds the way of a message from host to host. Returns false if it has no bound.
bool NetworkBounds::add_hop(std::size_t message, ChainBound& result) const {
  const model::LinkMessage& own = flows_.messages()[message];
  const Hop& hop = hops_[message];
  if (!own.way || !hop.delay) {
    result.note = why_not(message);
    return false;
  }
  result.bound = sum(*result.bound, *hop.delay);
  result.why.push_back({Contribution::Kind::kLink, own.to, 1, *hop.delay});
  const bool is_direct = parts_[*all_.host_of(own.to)].is_direct(message);
  if (is_direct && overheads_.far.max > 0) {
    result.bound = sum(*result.bound, overheads_.far.max);
    result.why.push_back({Contribution::Kind::kHop, own.to, 1, overheads_.far.max});
  }
  return true;
}

/// Adds a segment: the longest of its bounds. Returns false if it has none.
bool NetworkBounds::add_segment(const HostPart& part, std::vector<ChainBound> found,
                                ChainBound& result) {
  const auto without =
      std::ranges::find_if(found, [](const ChainBound& each) { return !each.bound; });
  if (found.empty() || without != found.end()) {
    result.note = found.empty() ? "no message leads to it" : without->note;
    return false;
  }
  for (const ChainBound& each : found) {
    add_missing(result.assumptions, each.assumptions);
    add_missing(result.without_loss, each.without_loss);
    result.level = std::min(result.level, each.level);
    if (!each.reaction) {
      result.reaction.reset();
    }
  }
  const auto longest =
      std::ranges::max_element(found, {}, [](const ChainBound& each) { return *each.bound; });
  result.bound = sum(*result.bound, *longest->bound);
  result.waited = sum(result.waited, longest->waited);
  for (Contribution each : longest->why) {
    each.callback = part.whole(each.callback);
    result.why.push_back(each);
  }
  return true;
}

void NetworkBounds::decide(std::size_t chain, ChainBound& result) const {
  const model::Chain& own = all_.chains[chain];
  const model::Callback& first = all_.callbacks[own.callbacks.front()];
  if (result.reaction) {
    result.reaction = result.data_age = sum(*result.bound, model::max_interval(first).count());
  }
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  const std::size_t from = *all_.host_of(own.callbacks.front());
  const std::size_t to = *all_.host_of(own.callbacks.back());
  if (from != to && all_.hosts[from].clock_error && all_.hosts[to].clock_error) {
    result.stamp_error = (*all_.hosts[from].clock_error + *all_.hosts[to].clock_error).count();
  }
  if (*result.bound > own.deadline.count()) {
    result.note = "the bound is above the deadline, which proves nothing";
  } else {
    result.verdict = result.assumptions.empty() ? Verdict::kProved : Verdict::kConditional;
  }
}

ChainBound NetworkBounds::compose(std::size_t chain,
                                  const std::vector<std::vector<ChainBound>>& found) const {
  ChainBound result;
  const auto& path = all_.chains[chain].callbacks;
  result.level = all_.effective_priority(path.front());
  result.bound = 0;
  result.reaction = 0;  // it has one so far
  std::size_t hosts = 0;
  bool rests_on_all = false;
  const auto none = [&](const std::string& note) {
    ChainBound without;
    without.level = result.level;
    without.note = note;
    return without;
  };
  for (std::size_t first = 0; first < path.size(); ++first) {
    const std::size_t host = *all_.host_of(path[first]);
    if (first > 0 && all_.host_of(path[first - 1]) == host) {
      continue;
    }
    if (first > 0 && !add_hop(flows_.message_of(all_.chains[chain], first), result)) {
      return none(result.note);
    }
    if (const std::string reason = blocked(host); !reason.empty()) {
      return none("host " + quoted(all_.hosts[host].name) + " has no bounds: " + reason);
    }
    std::vector<ChainBound> own;
    const HostPart& part = parts_[host];
    for (std::size_t i = 0; i < part.chains().size(); ++i) {
      const auto& segment = part.chains()[i].segment;
      if (segment && segment->chain == chain && segment->first == first) {
        own.push_back(found[host][i]);
      }
    }
    if (!add_segment(part, std::move(own), result)) {
      return none(result.note);
    }
    ++hosts;
    rests_on_all = rests_on_all || hosts > 1 || receives(host);
  }
  for (std::size_t host = 0; rests_on_all && host < conditions_.size(); ++host) {
    add_missing(result.assumptions, conditions_[host]);
  }
  if (hosts > 1 && !model::middleware_is_above(all_)) {
    add_missing(result.assumptions, {kMiddlewareHandsOver});
  }
  decide(chain, result);
  return result;
}

std::vector<ChainBound> NetworkBounds::chains() {
  std::vector<std::vector<ChainBound>> found;  // by host, by chain of its part
  for (std::size_t host = 0; host < parts_.size(); ++host) {
    const auto& own = parts_[host].chains();
    std::vector<std::size_t> segments;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i].segment) {
        segments.push_back(i);
      }
    }
    auto& all = found.emplace_back(own.size());
    if (segments.empty()) {
      continue;
    }
    std::vector<ChainBound> bounds = bounds_of(host, segments);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      all[segments[i]] = std::move(bounds[i]);
    }
  }
  std::vector<ChainBound> result;
  for (std::size_t chain = 0; chain < all_.chains.size(); ++chain) {
    result.push_back(compose(chain, found));
  }
  return result;
}

std::vector<LinkBound> NetworkBounds::links() const {
  std::vector<LinkBound> result;
  for (const model::LinkDirection& way : model::link_directions(all_)) {
    const std::vector<std::size_t> messages = messages_on(way);
    if (messages.empty()) {
      continue;
    }
    const LinkQueue queue = queue_of(way, messages);
    LinkBound& own = result.emplace_back();
    own.way = way;
    const auto first = reasons_.find({way.link, way.from});
    own.load = first != reasons_.end() ? first->second.second : queue.load();
    own.backlog_bytes = queue.backlog();
    own.delay = 0;
    for (const std::size_t m : messages) {
      own.delay = own.delay && hops_[m].delay ? std::optional(std::max(*own.delay, *hops_[m].delay))
                                              : std::nullopt;
    }
    if (!own.delay || !own.backlog_bytes) {
      own.note = why_unbounded(way);
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail

namespace rclrt::analysis {

std::vector<LinkBound> link_bounds(const model::Application& application,
                                   const model::ExecutorChoice& executor,
                                   const Overheads& overheads, Effort effort) {
  if (application.hosts.empty()) {
    return {};
  }
  return detail::NetworkBounds(application, executor, overheads, effort).links();
}

std::vector<Assumption> link_assumptions(const model::Application& application) {
  if (application.hosts.empty()) {
    return {};
  }
  const bool crosses = !model::link_messages(application).empty();
  const bool is_shaped = std::ranges::any_of(
      application.links, [](const auto& link) { return link.shaper.has_value(); });
  const std::vector<Assumption> all = {
      {"link-rate",
       "links transmit at no less than their stated rates, in each direction by itself, and lose "
       "no packet"},
      {"link-traffic",
       "links carry nothing but the messages of the application and the stated cross_traffic, to "
       "which acknowledgements, heartbeats and discovery belong"},
      {"link-sizes", "no message between hosts is larger than its topic's size_bytes"},
      {"link-queue",
       "packets of one direction wait in one queue; behind a shaper, no more than one packet "
       "waits"},
      {"link-shaper",
       "a shaper sends a packet at most access_ms after its tokens are there; more than once while "
       "packets wait only if its burst holds a packet and what its rate brings in access_ms"},
      {"host-clocks",
       "the clocks of two hosts differ in rate by 100 ppm at most, and each part of a bound is in "
       "the time of its host"},
  };
  std::vector<Assumption> result;
  for (Assumption each : all) {
    each.relevant = crosses && (each.id != "link-shaper" || is_shaped);
    result.push_back(std::move(each));
  }
  return result;
}

}  // namespace rclrt::analysis
