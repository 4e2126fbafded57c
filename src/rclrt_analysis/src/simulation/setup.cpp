// SPDX-License-Identifier: Apache-2.0
// The initial state of a simulation.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <rclrt/model/relative_deadline.hpp>
#include <utility>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

namespace {

enum RandomStream : std::uint64_t { kExecution, kJitter, kLatency, kNetwork, kWaits };

/// The number of a trigger's entities, and the number of releases of each that may wait.
struct InputsAndDepth {
  using Result = std::pair<unsigned, std::size_t>;
  Result operator()(const TimerTrigger& timer) const { return {1, timer.depth}; }
  Result operator()(const MessageTrigger& message) const { return {message.inputs, message.depth}; }
  Result operator()(const SyncTrigger& sync) const { return {sync.inputs, sync.depth}; }
  Result operator()(const EventTrigger& event) const { return {1, event.event.depth}; }
};

/// Returns model::relative_deadline() of the callback; 0: none.
std::int64_t relative_deadline_ns(const SimulatedCallback& callback) {
  using model::Nanoseconds;
  Nanoseconds period{};
  if (const auto* timer = std::get_if<TimerTrigger>(&callback.trigger)) {
    period = Nanoseconds(timer->period_ns);
  } else if (const auto* event = std::get_if<EventTrigger>(&callback.trigger)) {
    period = std::max(event->event.period, event->event.min_interval);
  }
  const auto stated =
      callback.deadline_ns != 0 ? std::optional<Nanoseconds>(callback.deadline_ns) : std::nullopt;
  return model::relative_deadline(stated, period).value_or(Nanoseconds::zero()).count();
}

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
  // Four kinds of one index are neighbours. The fifth is far from those of every index.
  const std::uint64_t number = index * 4 + kind % 4 + 1 + (kind / 4 << 40U);
  return SimulationRandom(seeds.next() ^ number * 0xD1B54A32D192ED03U);
}

Id SimulationEngine::add_lane(Id executor, Key key, unsigned workers, ThreadKind kind,
                              unsigned first_slot) {
  const auto index = static_cast<Id>(lanes_.size());
  SimulatedLane& lane = lanes_.emplace_back(timers_);
  lane.executor = executor;
  lane.key = key;
  const std::vector<unsigned>& apart = executors_[executor].stated->scheduler_cpus;
  // The idle threads of workshop are handled in the same way, but are no scheduler thread.
  const bool is_apart = kind == ThreadKind::kScheduler && !apart.empty() &&
                        traits(executors_[executor].stated->choice).has_scheduler_thread;
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
  executor.kind = &kind_of(executor.stated->choice.kind);
  executor.by_deadline = traits(executor.stated->choice).by_deadline;
  executor.cpus = cpu_mask(executor.stated->cpus);
  if (executor.kind->add_threads != nullptr) {
    (this->*executor.kind->add_threads)(index);
  }
}

/// Adds a scheduler thread, or an instant one if scheduling takes no time.
void SimulationEngine::add_scheduler(Id index) {
  Executor& executor = executors_[index];
  if (executor.stated->scheduler_ns == 0) {
    add_instant_scheduler(index);
    return;
  }
  add_handling_threads(index, 1, executor.stated->scheduler_ns);
}

/// Adds an inbox with threads above all levels, which distribute instances. Each instance takes
/// `handling_ns` of one of them.
void SimulationEngine::add_handling_threads(Id index, unsigned threads, std::int64_t handling_ns) {
  Executor& executor = executors_[index];
  executor.handling_ns = handling_ns;
  executor.inbox = add_lane(index, executor.stated->top_priority, threads, ThreadKind::kScheduler);
  executor.scheduler = lanes_[executor.inbox].workers.front();
}

/// Adds an inbox that distributes instances in no time.
void SimulationEngine::add_instant_scheduler(Id index) {
  Executor& executor = executors_[index];
  executor.inbox = add_lane(index, executor.stated->top_priority, 0, ThreadKind::kScheduler);
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
    callback.waits = stream(kWaits, index);
    callback.deadline_ns = relative_deadline_ns(stated);
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

/// Returns the lanes of the levels, ascending; kNone for each if there are none.
std::vector<Id> SimulationEngine::add_lanes(Id index, std::size_t levels) {
  const Executor& executor = executors_[index];
  const SimulatedExecutor& stated = *executor.stated;
  const Kind& own = *executor.kind;
  unsigned workers = std::max(stated.workers_per_level, 1U);
  if (own.worker_on_each_cpu && stated.workers_per_level == 0) {
    workers = static_cast<unsigned>(__builtin_popcountll(executor.cpus));
  } else if (!traits(stated.choice).has_worker_count) {
    workers = 1;
  }
  if (own.lanes == Lanes::kAbsent) {
    return std::vector<Id>(levels, kNone);
  }
  if (own.lanes == Lanes::kShared) {
    const Id shared = add_lane(index, stated.top_priority - 1, workers, ThreadKind::kWorker);
    return std::vector<Id>(levels, shared);
  }
  std::vector<Id> lanes;
  for (std::size_t i = 0; i < levels; ++i) {
    const auto above = static_cast<Key>(levels - i);
    lanes.push_back(add_lane(index, stated.top_priority - above, workers, ThreadKind::kWorker));
  }
  return lanes;
}

/// Returns for each callback the level at which its thread runs, if the executor has it.
std::vector<int> SimulationEngine::thread_levels(Id index) const {
  std::vector<int> levels;
  for (const Callback& callback : callbacks_) {
    levels.push_back(callback.stated->level);
  }
  if (const auto set = executors_[index].kind->set_thread_levels; set != nullptr) {
    (this->*set)(index, levels);
  }
  return levels;
}

/// Returns the lane with this key, which belongs to only some callbacks of a level. Makes it, with
/// one worker, when the first of them needs it.
Id SimulationEngine::lane_for_some(const Callback& callback, Id key, Key priority,
                                   std::size_t first_slot, std::map<Id, Id>& more) {
  if (!more.contains(key)) {
    more[key] = add_lane(callback.executor, priority, 1, ThreadKind::kWorker,
                         static_cast<unsigned>(first_slot));
  }
  return more[key];
}

/// Sets keys and lanes by the executor's levels, and the ceilings of its groups.
void SimulationEngine::set_up_levels(Id index) {
  Executor& executor = executors_[index];
  const Kind& own = *executor.kind;
  const std::vector<int> level_of = thread_levels(index);
  std::vector<int> levels;
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].executor == index) {
      levels.push_back(level_of[i]);
    }
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  const std::vector<Id> lanes = add_lanes(index, levels.size());
  std::map<Id, Id> more;
  std::vector<bool> has_member(groups_.size());
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    Callback& callback = callbacks_[i];
    if (callback.executor != index) {
      continue;
    }
    const auto place = static_cast<std::size_t>(
        std::lower_bound(levels.begin(), levels.end(), level_of[i]) - levels.begin());
    callback.lane =
        own.lane_of != nullptr ? (this->*own.lane_of)(callback, lanes, place, more) : lanes[place];
    const auto above = static_cast<Key>(levels.size() - place);
    callback.key = is_edf(index)            ? kBackground
                   : callback.lane != kNone ? lanes_[callback.lane].key
                                            : executor.stated->top_priority - above;
    SimulatedGroup& group = groups_[callback.group];
    if (own.has_ceilings) {
      group.ceiling = std::max(group.ceiling, callback.key);
    }
    if (callback.deadline_ns != 0) {
      group.shortest_deadline_ns = std::min(group.shortest_deadline_ns, callback.deadline_ns);
    }
    group.shared = group.shared || has_member[callback.group];
    has_member[callback.group] = true;
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
    if (const auto complete = executors_[index].kind->complete; complete != nullptr) {
      (this->*complete)(index);
    }
  }
}

/// Returns the entities of an executor by level, the highest first, then in order of registration.
std::vector<Id> SimulationEngine::by_level(Id index) const {
  std::vector<Id> own;
  for (Id entity = 0; entity < entities_.size(); ++entity) {
    if (callbacks_[entities_[entity].callback].executor == index) {
      own.push_back(entity);
    }
  }
  std::ranges::stable_sort(own, std::greater{}, [this](Id entity) {
    return callbacks_[entities_[entity].callback].stated->level;
  });
  return own;
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
  own.due_ns = own.nominal_ns + delay_at(own.nominal_ns, trigger.jitter, own.random, 0);
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
  for (std::size_t link = 0; link < system_.links.size(); ++link) {
    queues_.emplace_back(system_.links[link], stream(kNetwork, link));
  }
  result_.links.resize(queues_.size());
  links_.resize(callbacks_.size());
  std::uint64_t number = 0;
  for (std::size_t index = 0; index < callbacks_.size(); ++index) {
    for (const std::vector<Connection>& topic : system_.callbacks[index].topics) {
      std::vector<Link>& links = links_[index].emplace_back();
      for (const Connection& connection : topic) {
        Link& link = links.emplace_back();
        link.entity = callbacks_[connection.callback].entities[connection.input];
        link.stated = &connection;
        link.random = stream(kLatency, number++);
      }
    }
  }
}

}  // namespace rclrt::analysis::detail
