// SPDX-License-Identifier: Apache-2.0
// The paths of messages, and of the tokens of chains, from callback to callback.
#include "simulation/messages.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "simulation/engine.hpp"
#include "simulation/simulated_times.hpp"

namespace rclrt::analysis::detail {

const SimulationEngine::Membership* SimulationEngine::find(const Callback& callback,
                                                           std::uint32_t chain) {
  const auto found = std::find_if(callback.chains.begin(), callback.chains.end(),
                                  [&](const Membership& each) { return each.chain == chain; });
  return found == callback.chains.end() ? nullptr : &*found;
}

bool SimulationEngine::sends(const Callback& callback, unsigned input, std::size_t topic) {
  const auto& routes = callback.stated->routes;
  return routes.empty() || std::ranges::binary_search(routes[input], topic);
}

void SimulationEngine::publish(const Instance& instance, std::vector<Link>& topic) {
  const Id publisher = entities_[instance.entity].callback;
  const std::int64_t now_ns = threads_.now_ns();
  released_.clear();
  for (Link& link : topic) {
    SimulatedMessage message{publisher, instance.stamp_ns, now_ns, {}};
    for (const SimulatedToken& token : instance.tokens) {
      if (!find(callbacks_[publisher], token.chain)->last) {
        message.tokens.push_back(token);
      }
    }
    if (link.stated->link) {
      const auto queue = static_cast<Id>(*link.stated->link);
      const Id under_way = put_under_way(link, std::move(message));
      queues_[queue].push(under_way, link.stated->packets, link.stated->priority, now_ns);
      proceed_link(queue);
      continue;
    }
    const std::int64_t arrival_ns =
        std::max(link.last_arrival_ns,
                 now_ns + delay_at(now_ns, link.stated->latency, link.random, link.uses++));
    link.last_arrival_ns = arrival_ns;
    if (arrival_ns == now_ns && link.under_way == 0) {
      deliver(link.entity, std::move(message), released_);
      continue;
    }
    message.arrival_ns = arrival_ns;
    schedule(arrival_ns, EventKind::kArrival, put_under_way(link, std::move(message)));
  }
  // As after rcl_publish: the most urgent first.
  std::stable_sort(released_.begin(), released_.end(), [this](Id a, Id b) {
    return callback_of(instances_[a]).stated->level > callback_of(instances_[b]).stated->level;
  });
  for (const Id one : released_) {
    submit(one);
  }
}

Id SimulationEngine::put_under_way(Link& link, SimulatedMessage message) {
  Id under_way = static_cast<Id>(under_way_.size());
  if (free_under_way_.empty()) {
    under_way_.emplace_back();
  } else {
    under_way = free_under_way_.back();
    free_under_way_.pop_back();
  }
  ++link.under_way;
  under_way_[under_way] = {&link, std::move(message)};
  return under_way;
}

/// Lets a link between hosts send what it can by now. A message that has left the line arrives
/// after the link's latency and its own.
void SimulationEngine::proceed_link(Id index) {
  SimulatedQueue& queue = queues_[index];
  const std::int64_t now_ns = threads_.now_ns();
  LinkSimulation& result = result_.links[index];
  const auto sent = queue.proceed(now_ns, [&](SimulatedPacket packet) {
    packet.link = index;
    if (observer_ != nullptr) {
      observer_->sent(packet);
    }
  });
  result.most_bytes = queue.most_bytes();
  for (const SimulatedQueue::Sent& each : sent) {
    Link& link = *under_way_[each.message].link;
    const std::int64_t there_ns = now_ns + queue.draw_latency();
    const std::int64_t arrival_ns =
        std::max(link.last_arrival_ns,
                 there_ns + delay_at(now_ns, link.stated->latency, link.random, link.uses++));
    ++result.messages;
    result.worst_delay_ns = std::max(result.worst_delay_ns, there_ns - each.since_ns);
    link.last_arrival_ns = arrival_ns;
    under_way_[each.message].message.arrival_ns = arrival_ns;
    schedule(arrival_ns, EventKind::kArrival, each.message);
  }
  if (queue.next_ns() != kNever) {
    schedule(queue.next_ns(), EventKind::kLink, index);
  }
}

/// Draws the next release of an event; releases do not overtake each other.
void SimulationEngine::schedule_next(Id index) {
  Source& source = sources_[index];
  source.nominal_ns = source.times.next().count();
  const std::int64_t jitter_ns =
      delay_at(source.nominal_ns, source.trigger->jitter, source.random, source.releases);
  if (source.nominal_ns < options_.horizon_ns) {  // the horizon is far from the last nanosecond
    source.due_ns = std::max(source.due_ns, source.nominal_ns + jitter_ns);
    schedule(source.due_ns, EventKind::kRelease, index);
  }
}

/// Releases an event as a message with its own callback as the publisher.
void SimulationEngine::release(Id index) {
  Source& source = sources_[index];
  const Id callback = entities_[source.entity].callback;
  SimulatedMessage message{callback, source.nominal_ns, threads_.now_ns(), {}};
  for (const Membership& each : callbacks_[callback].chains) {
    message.tokens.push_back({each.chain, source.releases, source.nominal_ns});
  }
  const Id entity = source.entity;
  ++source.releases;
  schedule_next(index);
  std::vector<Id> released;
  deliver(entity, std::move(message), released);
  for (const Id instance : released) {
    submit(instance);
  }
}

void SimulationEngine::deliver(Id id, SimulatedMessage message, std::vector<Id>& released) {
  Entity& entity = entities_[id];
  Executor& executor = executors_[callbacks_[entity.callback].executor];
  const std::int64_t now_ns = threads_.now_ns();
  if (entity.messages.size() == entity.history) {
    entity.messages.pop_front();
  }
  entity.messages.push_back(std::move(message));
  if (executor.polls()) {
    if (!groups_[callbacks_[entity.callback].group].busy()) {
      wake_polling(executor);
    }
    return;
  }
  const Id instance = make_instance(id, now_ns, now_ns, 0);
  if (instance != kNone) {
    released.push_back(instance);
  }
}

void SimulationEngine::take_tokens(const Callback& callback, const SimulatedMessage& message,
                                   unsigned input, std::vector<SimulatedToken>& tokens) const {
  for (const SimulatedToken& token : message.tokens) {
    const Membership* const here = find(callback, token.chain);
    const Membership* const there = find(callbacks_[message.publisher], token.chain);
    if (here != nullptr && here->position == there->position + 1 &&
        (here->inputs == nullptr ||
         std::ranges::binary_search(*here->inputs, std::size_t{input})) &&
        std::find(tokens.begin(), tokens.end(), token) == tokens.end()) {
      tokens.push_back(token);
    }
  }
}

std::vector<std::int64_t> SimulationEngine::messages_at_end() const {
  const std::int64_t end_ns = threads_.now_ns();
  std::int64_t earliest_ns = end_ns;
  std::vector<std::array<std::int64_t, 3>> coming;  // times, then what comes
  for (const SimulatedTimer& timer : timers_) {
    if (timer.nominal_ns < end_ns) {
      coming.push_back({timer.due_ns - end_ns, timer.nominal_ns - end_ns, timer.entity});
      earliest_ns = std::min(earliest_ns, timer.nominal_ns);
    }
  }
  for (Id index = 0; index < under_way_.size(); ++index) {
    const UnderWay& one = under_way_[index];
    if (std::ranges::find(free_under_way_, index) == free_under_way_.end()) {
      coming.push_back({one.message.arrival_ns - end_ns, one.message.stamp_ns - end_ns,
                        std::int64_t{one.link->entity}});
      earliest_ns = std::min(earliest_ns, one.message.stamp_ns);
    }
  }
  std::ranges::sort(coming);
  std::vector<std::int64_t> result;
  for (const auto& each : coming) {
    result.insert(result.end(), each.begin(), each.end());
  }
  for (const Callback& callback : callbacks_) {
    if (!callback.sync) {
      continue;
    }
    for (const std::vector<std::int64_t>& stamps : callback.sync->stamps(earliest_ns)) {
      result.push_back(static_cast<std::int64_t>(stamps.size()));
      for (const std::int64_t stamp_ns : stamps) {
        result.push_back(stamp_ns - end_ns);
      }
    }
  }
  return result;
}

std::vector<std::int64_t> messages_after(const SimulatedSystem& system, std::int64_t warm_up_ns) {
  SimulationEngine engine(system, {.horizon_ns = warm_up_ns, .warm_up_ns = warm_up_ns}, nullptr);
  engine.run();
  return engine.messages_at_end();
}

std::optional<SimulatedMessage> SimulationEngine::take_message(Entity& entity) {
  if (entity.messages.empty()) {
    return std::nullopt;
  }
  SimulatedMessage message = std::move(entity.messages.front());
  entity.messages.pop_front();
  return message;
}

bool SimulationEngine::take(Instance& instance) {
  Entity& entity = entities_[instance.entity];
  Callback& callback = callbacks_[entity.callback];
  instance.tokens.clear();
  instance.outcome = SimulatedOutcome::kRan;
  if (std::holds_alternative<TimerTrigger>(callback.stated->trigger)) {
    instance.stamp_ns = instance.release_ns;
    for (const Membership& each : callback.chains) {
      if (each.position == 0) {
        instance.tokens.push_back({each.chain, instance.number, instance.release_ns});
      }
    }
    return true;
  }
  std::optional<SimulatedMessage> taken =
      entity.is_read ? std::exchange(entity.read, {}) : take_message(entity);
  entity.is_read = false;
  if (!taken) {
    instance.outcome = SimulatedOutcome::kEmpty;
    return false;
  }
  SimulatedMessage message = *std::move(taken);
  if (executors_[callback.executor].polls()) {  // it learns the release time only now
    instance.release_ns = instance.ready_ns = message.arrival_ns;
  }
  if (std::holds_alternative<EventTrigger>(callback.stated->trigger)) {
    instance.stamp_ns = message.stamp_ns;
    instance.tokens = std::move(message.tokens);
    return true;
  }
  if (!callback.sync) {
    instance.stamp_ns = message.stamp_ns;
    take_tokens(callback, message, entity.input, instance.tokens);
    return true;
  }
  instance.taken_ns = message.stamp_ns;
  if (observer_ != nullptr) {
    take_tokens(callback, message, entity.input, instance.tokens);
  }
  const auto set = callback.sync->add(entity.input, std::move(message));
  if (set.empty()) {
    instance.outcome = SimulatedOutcome::kBuffered;
    return false;
  }
  instance.tokens.clear();
  instance.stamp_ns = set.front().stamp_ns;
  for (unsigned input = 0; input < set.size(); ++input) {
    instance.stamp_ns = std::max(instance.stamp_ns, set[input].stamp_ns);
    take_tokens(callback, set[input], input, instance.tokens);
  }
  return true;
}

}  // namespace rclrt::analysis::detail
