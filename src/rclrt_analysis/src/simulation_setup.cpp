// SPDX-License-Identifier: Apache-2.0
// The initial state of a simulation.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "simulation_engine.hpp"

namespace rclrt::analysis::detail {

namespace {

enum RandomStream : std::uint64_t { kExecution, kJitter, kLatency };

/// The number of a trigger's entities, and the number of releases of each that may wait.
struct InputsAndDepth {
  using Result = std::pair<unsigned, std::size_t>;
  Result operator()(const TimerTrigger& timer) const { return {1, timer.depth}; }
  Result operator()(const MessageTrigger& message) const { return {message.inputs, message.depth}; }
  Result operator()(const SyncTrigger& sync) const { return {sync.inputs, sync.depth}; }
  Result operator()(const EventTrigger& event) const { return {1, event.event.depth}; }
};

}  // namespace

SimulationEngine::SimulationEngine(const SimulatedSystem& system, const SimulationOptions& options,
                                   SimulationObserver* observer)
    : system_(system), options_(options), observer_(observer), threads_(system.cpus, observer) {
  require_valid(system);
  require_valid_horizon(options.horizon_ns);
  result_.callbacks.resize(system.callbacks.size());
  result_.chains.resize(system.chains.size());
  executors_.resize(system.executors.size());
  callbacks_.resize(system.callbacks.size());
  for (Id index = 0; index < system.executors.size(); ++index) {
    set_up_executor(index);
  }
  set_up_callbacks();
  for (Id index = 0; index < system.executors.size(); ++index) {
    set_up_levels(index);
    set_up_stack(index);
  }
  register_entities();
  set_up_links();
  for (Id lane = 0; lane < lanes_.size(); ++lane) {
    arm(lane);
  }
  for (Executor& executor : executors_) {
    for (const Id loop : executor.loops) {
      threads_.wake(loop);
    }
  }
}

std::uint64_t SimulationEngine::cpu_mask(const std::vector<unsigned>& cpus) const {
  std::uint64_t mask = 0;
  for (const unsigned cpu : cpus) {
    mask |= std::uint64_t{1} << cpu;
  }
  return mask != 0 ? mask : ~std::uint64_t{0} >> (64 - system_.cpus);
}

SimulationRandom SimulationEngine::stream(std::uint64_t kind, std::uint64_t index) const {
  SimulationRandom seeds(options_.seed);
  return SimulationRandom(seeds.next() ^ (index * 4 + kind + 1) * 0xD1B54A32D192ED03U);
}

Id SimulationEngine::add_lane(Id executor, Key key, unsigned workers, ThreadKind kind,
                              unsigned first_slot) {
  const auto index = static_cast<Id>(lanes_.size());
  SimulatedLane& lane = lanes_.emplace_back(timers_);
  lane.executor = executor;
  lane.key = key;
  const std::vector<unsigned>& apart = executors_[executor].stated->scheduler_cpus;
  const bool is_apart = kind == ThreadKind::kScheduler && !apart.empty();
  for (unsigned slot = 0; slot < workers; ++slot) {
    SimulatedThread thread;
    thread.kind = kind;
    thread.executor = executor;
    thread.lane = index;
    thread.slot = first_slot + slot;
    thread.cpus = is_apart ? cpu_mask(apart) : executors_[executor].cpus;
    thread.base_key = thread.key = key;
    lane.workers.push_back(threads_.add(thread));
  }
  return index;
}

void SimulationEngine::set_up_executor(Id index) {
  Executor& executor = executors_[index];
  executor.stated = &system_.executors[index];
  executor.cpus = cpu_mask(executor.stated->cpus);
  switch (executor.stated->choice.kind) {
    case ExecutorKind::kWaitSet: {
      SimulatedThread thread;
      thread.kind = ThreadKind::kLoop;
      thread.executor = index;
      thread.cpus = executor.cpus;
      thread.base_key = thread.key = executor.stated->top_priority - 1;
      for (unsigned slot = 0; slot < std::max(executor.stated->choice.threads, 1U); ++slot) {
        thread.slot = slot;
        executor.loops.push_back(threads_.add(thread));
      }
      break;
    }
    case ExecutorKind::kProducerConsumer:
    case ExecutorKind::kThreadDispatch: {
      const bool schedules = executor.stated->scheduler_ns > 0;
      executor.inbox =
          add_lane(index, executor.stated->top_priority, schedules ? 1 : 0, ThreadKind::kScheduler);
      executor.scheduler = schedules ? lanes_[executor.inbox].workers.front() : kNone;
      break;
    }
    case ExecutorKind::kEdf:
    case ExecutorKind::kEdfNonPreemptive:
    case ExecutorKind::kFixedPriorityNonPreemptive:
      executor.inbox = add_lane(index, executor.stated->top_priority, 0, ThreadKind::kScheduler);
      break;
    case ExecutorKind::kPreemptive:
    case ExecutorKind::kEvents:
    case ExecutorKind::kPicas:
    case ExecutorKind::kPerGroup:
    case ExecutorKind::kStaticOrder:
    case ExecutorKind::kWorkshop:
      break;  // these have only lanes
  }
}

void SimulationEngine::set_up_callbacks() {
  std::size_t shared = 0;
  for (const SimulatedCallback& stated : system_.callbacks) {
    shared = std::max(shared, stated.group ? *stated.group + 1 : 0);
  }
  groups_.resize(shared);
  for (Id index = 0; index < callbacks_.size(); ++index) {
    const SimulatedCallback& stated = system_.callbacks[index];
    Callback& callback = callbacks_[index];
    callback.stated = &stated;
    callback.executor = static_cast<Id>(stated.executor);
    callback.random = stream(kExecution, index);
    callback.deadline_ns = stated.deadline_ns;
    if (stated.deadline_ns == 0) {  // EDF's default deadlines
      if (const auto* timer = std::get_if<TimerTrigger>(&stated.trigger)) {
        callback.deadline_ns = timer->period_ns;
      } else if (const auto* event = std::get_if<EventTrigger>(&stated.trigger)) {
        callback.deadline_ns = event->event.min_interval.count();
      }
    }
    if (const auto* sync = std::get_if<SyncTrigger>(&stated.trigger)) {
      callback.sync.emplace(*sync);
    }
    if (stated.group) {
      callback.group = static_cast<Id>(*stated.group);
    } else {
      callback.group = static_cast<Id>(groups_.size());
      groups_.emplace_back();
    }
  }
  for (std::uint32_t chain = 0; chain < system_.chains.size(); ++chain) {
    const auto& path = system_.chains[chain].callbacks;
    for (std::uint32_t position = 0; position < path.size(); ++position) {
      const auto& entries = system_.chains[chain].entries;
      callbacks_[path[position]].chains.push_back({chain, position, position + 1 == path.size(),
                                                   entries.empty() ? nullptr : &entries[position]});
    }
  }
}

/// Returns the lanes of the levels (ascending), by level; none if threads are created per instance.
std::vector<Id> SimulationEngine::add_lanes(Id index, const std::vector<int>& levels) {
  const SimulatedExecutor& stated = *executors_[index].stated;
  unsigned workers = std::max(stated.workers_per_level, 1U);
  switch (stated.choice.kind) {
    case ExecutorKind::kStaticOrder:
      workers = 1;
      [[fallthrough]];
    case ExecutorKind::kEvents:
    case ExecutorKind::kPicas: {
      const Id shared = add_lane(index, stated.top_priority - 1, workers, ThreadKind::kWorker);
      return std::vector<Id>(levels.size(), shared);
    }
    case ExecutorKind::kPreemptive:
    case ExecutorKind::kWorkshop:
      if (stated.workers_per_level == 0) {
        workers = static_cast<unsigned>(__builtin_popcountll(executors_[index].cpus));
      }
      break;
    case ExecutorKind::kProducerConsumer:
      break;
    case ExecutorKind::kPerGroup:  // see lane_of
    case ExecutorKind::kWaitSet:
    case ExecutorKind::kThreadDispatch:
    case ExecutorKind::kEdf:
    case ExecutorKind::kEdfNonPreemptive:
    case ExecutorKind::kFixedPriorityNonPreemptive:
      return std::vector<Id>(levels.size(), kNone);
  }
  std::vector<Id> lanes;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto above = static_cast<Key>(levels.size() - i);
    lanes.push_back(add_lane(index, stated.top_priority - above, workers, ThreadKind::kWorker));
  }
  return lanes;
}

/// Returns for each callback of the executor the level at which its thread runs.
std::vector<int> SimulationEngine::thread_levels(Id index) const {
  const bool by_group = kind_of(index) == ExecutorKind::kPerGroup;
  std::vector<int> levels(callbacks_.size());
  std::map<Id, int> highest;
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    const Callback& callback = callbacks_[i];
    levels[i] = callback.stated->level;
    if (by_group && callback.executor == index) {
      int& own = highest.try_emplace(callback.group, levels[i]).first->second;
      own = std::max(own, levels[i]);
    }
  }
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    const auto found = highest.find(callbacks_[i].group);
    levels[i] = found != highest.end() ? found->second : levels[i];
  }
  return levels;
}

/// Returns the lane of a callback with the level at index `place` of `lanes`. A lane for only some
/// callbacks, those of a group or of timers, is made for the first of them.
Id SimulationEngine::lane_of(const Callback& callback, const std::vector<Id>& lanes,
                             std::size_t place, std::map<Id, Id>& more) {
  const SimulatedExecutor& stated = *executors_[callback.executor].stated;
  const auto made = [&](Id key, Key priority, std::size_t first_slot) {
    if (!more.contains(key)) {
      more[key] = add_lane(callback.executor, priority, 1, ThreadKind::kWorker,
                           static_cast<unsigned>(first_slot));
    }
    return more[key];
  };
  if (stated.choice.kind == ExecutorKind::kPerGroup) {
    return made(callback.group, stated.top_priority - static_cast<Key>(lanes.size() - place),
                more.size());
  }
  if (stated.choice.timers_thread &&
      std::holds_alternative<TimerTrigger>(callback.stated->trigger)) {
    return made(kNone, stated.top_priority - 1, 1);
  }
  return lanes[place];
}

/// Sets keys and lanes by the executor's levels, and the ceilings of its groups.
void SimulationEngine::set_up_levels(Id index) {
  Executor& executor = executors_[index];
  const ExecutorKind kind = executor.stated->choice.kind;
  const std::vector<int> level_of = thread_levels(index);
  std::vector<int> levels;
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].executor == index) {
      levels.push_back(level_of[i]);
    }
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  const std::vector<Id> lanes = add_lanes(index, levels);
  std::map<Id, Id> more;
  std::vector<unsigned> members(groups_.size());
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    Callback& callback = callbacks_[i];
    if (callback.executor != index) {
      continue;
    }
    const auto place = static_cast<std::size_t>(
        std::lower_bound(levels.begin(), levels.end(), level_of[i]) - levels.begin());
    callback.lane = lane_of(callback, lanes, place, more);
    const auto above = static_cast<Key>(levels.size() - place);
    callback.key = is_edf(index)            ? kBackground
                   : callback.lane != kNone ? lanes_[callback.lane].key
                                            : executor.stated->top_priority - above;
    SimulatedGroup& group = groups_[callback.group];
    if (kind != ExecutorKind::kWaitSet) {
      group.ceiling = std::max(group.ceiling, callback.key);
    }
    if (callback.deadline_ns != 0) {
      group.shortest_deadline_ns = std::min(group.shortest_deadline_ns, callback.deadline_ns);
    }
    if (++members[callback.group] == 2) {
      group.shared = true;
      executor.shared_groups.push_back(callback.group);
    }
  }
}

void SimulationEngine::register_entities() {
  std::vector<Id> order(callbacks_.size());
  std::iota(order.begin(), order.end(), Id{0});
  std::stable_sort(order.begin(), order.end(), [this](Id a, Id b) {
    return callbacks_[a].stated->registration < callbacks_[b].stated->registration;
  });
  for (const Id index : order) {
    Callback& callback = callbacks_[index];
    const auto& trigger = callback.stated->trigger;
    const bool queues = callback.stated->overload == model::Overload::kQueue;
    const auto [inputs, depth] = std::visit(InputsAndDepth{}, trigger);
    for (unsigned input = 0; input < inputs; ++input) {
      const auto id = static_cast<Id>(entities_.size());
      Entity& entity = entities_.emplace_back();
      entity.callback = index;
      entity.input = input;
      entity.credits = entity.history = queues ? depth : 1;
      callback.entities.push_back(id);
      if (const auto* timer = std::get_if<TimerTrigger>(&trigger)) {
        register_timer(id, *timer);
        continue;
      }
      executors_[callback.executor].others.push_back(id);
      if (const auto* event = std::get_if<EventTrigger>(&trigger)) {
        register_source(id, *event);
      }
    }
  }
  for (Id index = 0; index < executors_.size(); ++index) {
    if (executors_[index].polls()) {
      order_entities(executors_[index]);
    } else {
      rank_entities(index);
    }
  }
}

/// Ranks the entities that share a lane: by level, or in the order in which sets run.
void SimulationEngine::rank_entities(Id index) {
  const ExecutorKind kind = kind_of(index);
  if (kind != ExecutorKind::kPicas && kind != ExecutorKind::kStaticOrder) {
    return;
  }
  std::vector<Id> own;  // in order of registration
  for (Id entity = 0; entity < entities_.size(); ++entity) {
    if (callbacks_[entities_[entity].callback].executor == index) {
      own.push_back(entity);
    }
  }
  const auto level_of = [this](Id entity) {
    return callbacks_[entities_[entity].callback].stated->level;
  };
  std::ranges::stable_sort(own, std::greater{}, level_of);
  int rank = 0;
  for (const Id entity : own) {
    const Callback& callback = callbacks_[entities_[entity].callback];
    const Id first = callback.entities.front();
    const auto* const message = std::get_if<MessageTrigger>(&callback.stated->trigger);
    const bool shares = message != nullptr && message->one_queue && entity != first;
    entities_[entity].rank = kind == ExecutorKind::kPicas ? level_of(entity)
                             : shares                     ? entities_[first].rank
                                                          : --rank;
  }
}

void SimulationEngine::register_timer(Id entity, const TimerTrigger& trigger) {
  const Callback& callback = callbacks_[entities_[entity].callback];
  Executor& executor = executors_[callback.executor];
  const auto number = static_cast<Id>(timers_.size());
  SimulatedTimer& own = timers_.emplace_back();
  own.trigger = &trigger;
  own.entity = entity;
  own.random = stream(kJitter, entities_[entity].callback);
  own.nominal_ns = trigger.offset_ns;
  own.due_ns = own.nominal_ns + trigger.jitter.draw(own.random, 0);
  executor.timers.push_back(number);
  if (!executor.polls()) {
    lanes_[executor.inbox != kNone ? executor.inbox : callback.lane].timers.add(number);
  }
}

void SimulationEngine::register_source(Id entity, const EventTrigger& trigger) {
  const auto number = static_cast<Id>(sources_.size());
  sources_.push_back({.entity = entity,
                      .trigger = &trigger,
                      .times = model::EventTimes(trigger.event, trigger.id),
                      .random = stream(kJitter, entities_[entity].callback)});
  schedule_next(number);
}

void SimulationEngine::set_up_links() {
  links_.resize(callbacks_.size());
  std::uint64_t number = 0;
  for (std::size_t index = 0; index < callbacks_.size(); ++index) {
    for (const std::vector<Connection>& topic : system_.callbacks[index].topics) {
      std::vector<Link>& links = links_[index].emplace_back();
      for (const Connection& connection : topic) {
        Link& link = links.emplace_back();
        link.entity = callbacks_[connection.callback].entities[connection.input];
        link.latency = &connection.latency;
        link.random = stream(kLatency, number++);
      }
    }
  }
}

}  // namespace rclrt::analysis::detail
