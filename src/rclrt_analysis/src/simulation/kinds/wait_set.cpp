// SPDX-License-Identifier: Apache-2.0
// How the threads of a wait set choose. As in rclrt_executor, they draw from one ready set under
// one mutex. A thread that finds no work waits for the next set while it holds the mutex.
#include <algorithm>
#include <map>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

void SimulationEngine::add_loops(Id index) {
  Executor& executor = executors_[index];
  SimulatedThread thread;
  thread.kind = ThreadKind::kLoop;
  thread.executor = index;
  thread.cpus = executor.cpus;
  thread.base_key = thread.key = executor.stated->top_priority - 1;
  for (unsigned slot = 0; slot < std::max(executor.stated->choice.threads, 1U); ++slot) {
    thread.slot = slot;
    executor.loops.push_back(threads_.add(thread));
  }
}

/// Puts the entities of a wait set, registered in order, in the order in which it examines them.
void SimulationEngine::order_entities(Id index) {
  Executor& executor = executors_[index];
  const auto turn_of = [&](Id entity) {
    const model::Role role = callbacks_[entities_[entity].callback].stated->role;
    const bool second =
        role == (executor.stated->choice.subscriptions_first ? model::Role::kClient
                                                             : model::Role::kService);
    return role == model::Role::kTopic ? 0 : second ? 1 : 2;
  };
  if (executor.stated->choice.order_seed) {
    // Entities are numbered in order of registration.
    std::vector<Id> all(executor.others);
    for (const Id timer : executor.timers) {
      all.push_back(timers_[timer].entity);
    }
    std::sort(all.begin(), all.end());
    std::map<Id, std::uint64_t> place;
    std::uint64_t number = 0;
    for (const Id entity : all) {
      const Callback& callback = callbacks_[entities_[entity].callback];
      if (callback.stated->role == model::Role::kService && entity != callback.entities.front()) {
        place[entity] = place[callback.entities.front()];  // one service with several clients
        continue;
      }
      const std::uint64_t spread = SimulationRandom(number++).next();
      place[entity] = SimulationRandom(*executor.stated->choice.order_seed + spread).next();
    }
    std::ranges::stable_sort(executor.others, {}, [&](Id entity) { return place[entity]; });
    std::ranges::sort(executor.timers, {}, [&](Id timer) { return place[timers_[timer].entity]; });
  }
  std::ranges::stable_sort(executor.others, {}, turn_of);
}

/// Returns whether no other input of the service has an older request.
bool SimulationEngine::is_first_of_queue(Id entity) const {
  const Callback& callback = callbacks_[entities_[entity].callback];
  const auto* const message = std::get_if<MessageTrigger>(&callback.stated->trigger);
  if (message == nullptr || !message->one_queue) {
    return true;
  }
  const std::int64_t own_ns = entities_[entity].messages.front().arrival_ns;
  return std::ranges::none_of(callback.entities, [&](Id other) {
    const auto& messages = entities_[other].messages;
    return !messages.empty() && (messages.front().arrival_ns < own_ns ||
                                 (messages.front().arrival_ns == own_ns && other < entity));
  });
}

/// Takes the first entity of the ready set with a free group; kNone if there is none.
Id SimulationEngine::take_ready(Executor& executor) {
  auto& set = executor.ready_set;
  for (std::size_t place = executor.ready_next; place < set.size(); ++place) {
    const Id entity = set[place];
    if (is_busy(entity)) {
      continue;
    }
    if (place == executor.ready_next) {
      ++executor.ready_next;
    } else {
      set.erase(set.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return entity;
  }
  return kNone;
}

bool SimulationEngine::comes_before_timers(const Executor& executor, Id entity) const {
  return executor.stated->choice.subscriptions_first &&
         callbacks_[entities_[entity].callback].stated->role == model::Role::kTopic;
}

bool SimulationEngine::is_busy(Id entity) const {
  return groups_[callbacks_[entities_[entity].callback].group].busy();
}

/// Asks for all entities without a busy group: the polling point before the wait.
void SimulationEngine::ask(Executor& executor) {
  executor.asked.clear();
  for (const Id entity : executor.others) {
    executor.asked.push_back(!is_busy(entity));
  }
  executor.asked_until_ns = kNever;
  for (const Id timer : executor.timers) {
    if (!is_busy(timers_[timer].entity)) {
      executor.asked_until_ns = std::min(executor.asked_until_ns, timers_[timer].due_ns);
    }
  }
}

/// Fills the ready set after the wait, at the polling point: with the timers that are due, and with
/// the other entities that were asked for and are ready.
void SimulationEngine::fetch(Executor& executor) {
  executor.ready_set.clear();
  executor.ready_next = 0;
  const auto fetch_others = [&](bool before_timers) {
    for (std::size_t i = 0; i < executor.others.size(); ++i) {
      const Id entity = executor.others[i];
      if (executor.asked[i] && comes_before_timers(executor, entity) == before_timers &&
          !entities_[entity].messages.empty() && is_first_of_queue(entity)) {
        executor.ready_set.push_back(entity);
      }
    }
  };
  if (executor.stated->choice.subscriptions_first) {
    fetch_others(true);
  }
  for (const Id timer : executor.timers) {
    if (timers_[timer].due_ns <= threads_.now_ns()) {
      executor.ready_set.push_back(timers_[timer].entity);
    }
  }
  fetch_others(false);
}

/// Wakes the thread that waits for the next set, if there is one.
void SimulationEngine::wake_polling(Executor& executor) {
  if (executor.drawing != kNone && threads_[executor.drawing].state == ThreadState::kSleeping) {
    threads_.wake(executor.drawing);
  }
}

void SimulationEngine::pick_for_loop(Id thread) {
  const Id index = threads_[thread].executor;
  Executor& executor = executors_[index];
  if (executor.drawing != kNone && executor.drawing != thread) {
    executor.at_mutex.push_back(thread);
    threads_.sleep(thread);
    return;
  }
  executor.drawing = thread;
  Id entity = kNone;
  std::int64_t polling_ns = 0;
  // The wait ends: the set has what is ready of the entities asked for before it.
  if (executor.waits) {
    executor.waits = false;
    fetch(executor);
    polling_ns = executor.stated->polling_ns;
  }
  entity = take_ready(executor);
  if (entity == kNone) {
    ask(executor);
    fetch(executor);
    polling_ns = executor.stated->polling_ns;
    entity = take_ready(executor);
  }
  if (entity == kNone) {
    executor.waits = true;
    threads_.sleep(thread);
    if (executor.asked_until_ns < executor.armed_ns) {
      executor.armed_ns = executor.asked_until_ns;
      schedule(executor.armed_ns, EventKind::kLoopTimer, index);
    }
    return;
  }
  ++entities_[entity].counts.released;
  std::int64_t release_ns = threads_.now_ns();  // for a message: known when it is taken
  std::uint64_t number = 0;
  for (const Id timer : executor.timers) {
    if (timers_[timer].entity == entity) {
      release_ns = timers_[timer].nominal_ns;
      number = timers_[timer].releases;
      advance_schedule(timers_[timer], model::OverrunPolicy::kSkip);
    }
  }
  const Id instance = new_instance(entity, release_ns, release_ns, number);
  enter(thread, instance);
  begin(thread, instance, polling_ns);
  executor.drawing = kNone;
  if (!executor.at_mutex.empty()) {
    executor.drawing = executor.at_mutex.front();
    executor.at_mutex.pop_front();
    threads_.wake(executor.drawing);
  }
}

constinit const SimulationEngine::Kind SimulationEngine::kWaitSet{
    .has_ceilings = false,
    .add_threads = &SimulationEngine::add_loops,
    .complete = &SimulationEngine::order_entities,
};

}  // namespace rclrt::analysis::detail
