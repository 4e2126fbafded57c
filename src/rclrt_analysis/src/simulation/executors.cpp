// SPDX-License-Identifier: Apache-2.0
// What executors do with a release, and how their threads choose.
#include <algorithm>
#include <utility>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

Id SimulationEngine::new_instance(Id entity, std::int64_t release_ns, std::int64_t ready_ns,
                                  std::uint64_t number) {
  if (free_instances_.empty()) {
    free_instances_.push_back(instances_.add({}));
  }
  const Id id = free_instances_.back();
  free_instances_.pop_back();
  Instance& instance = instances_[id];
  instance.entity = entity;
  instance.phase = Phase::kDispatch;
  instance.release_ns = release_ns;
  instance.ready_ns = ready_ns;
  instance.number = number;
  instance.has_begun = false;
  return id;
}

/// Returns a new instance of an entity; kNone when it has no credit left.
Id SimulationEngine::make_instance(Id id, std::int64_t release_ns, std::int64_t ready_ns,
                                   std::uint64_t number) {
  Entity& entity = entities_[id];
  ++entity.counts.released;
  if (entity.out == entity.credits) {
    if (callbacks_[entity.callback].stated->overload == model::Overload::kKeepLast) {
      entity.newest = {release_ns, number};
    }
    ++entity.counts.dropped;
    return kNone;
  }
  ++entity.out;
  return new_instance(id, release_ns, ready_ns, number);
}

void SimulationEngine::give_credit_back(Instance& instance) {
  Entity& entity = entities_[instance.entity];
  const Callback& callback = callbacks_[entity.callback];
  instance.has_begun = true;
  if (!executors_[callback.executor].polls() &&
      callback.stated->overload != model::Overload::kSkipIfRunning) {
    --entity.out;
    if (entity.newest) {
      instance.release_ns = instance.ready_ns = entity.newest->first;
      instance.number = entity.newest->second;
      entity.newest.reset();
    }
  }
}

/// Begins to run the instance on the thread, with `before_ns` of CPU time before the dispatch
/// overhead. As in rclrt_executor, the instance gives its place in the queue (its credit) back
/// before its message is taken; with kSkipIfRunning, only when it ends.
void SimulationEngine::begin(Id thread, Id id, std::int64_t before_ns) {
  Instance& instance = instances_[id];
  const Entity& entity = entities_[instance.entity];
  const Callback& callback = callbacks_[entity.callback];
  const Executor& executor = executors_[callback.executor];
  if (!instance.has_begun) {
    give_credit_back(instance);
  }
  SimulatedThread& own = threads_[thread];
  own.instance = id;
  own.callback = entity.callback;
  own.number = next_number_++;
  own.cpu_ns = 0;
  own.preemptions = 0;
  threads_.work(thread, warms_up() ? 0 : before_ns + executor.stated->dispatch_ns);
}

void SimulationEngine::end_credit(const Instance& instance) {
  Entity& entity = entities_[instance.entity];
  const Callback& callback = callbacks_[entity.callback];
  if (callback.stated->overload == model::Overload::kSkipIfRunning &&
      !executors_[callback.executor].polls()) {
    --entity.out;
  }
}

void SimulationEngine::submit(Id id) {
  Instance& instance = instances_[id];
  const Callback& callback = callback_of(instance);
  Executor& executor = executors_[callback.executor];
  if (executor.inbox == kNone) {
    SimulatedLane& lane = lanes_[callback.lane];
    lane.pushed.push_back(id);
    wake_one(lane);
  } else if (executor.scheduler != kNone) {
    lanes_[executor.inbox].pushed.push_back(id);
    wake_one(lanes_[executor.inbox]);
  } else {
    instance.order = lanes_[executor.inbox].next_order++;
    pass_on(id);
  }
}

/// Hands the instance from the scheduler thread to the lane or thread that will run it.
void SimulationEngine::pass_on(Id id) {
  const Callback& callback = callback_of(instances_[id]);
  if (callback.lane != kNone) {
    lanes_[callback.lane].pushed.push_back(id);
    wake_one(lanes_[callback.lane]);
  } else {
    spawn(callback.executor, id);
  }
}

void SimulationEngine::spawn(Id index, Id id) {
  Executor& executor = executors_[index];
  const Callback& callback = callback_of(instances_[id]);
  if (executor.idle.empty()) {
    SimulatedThread thread;
    thread.kind = ThreadKind::kOneOff;
    thread.executor = index;
    thread.slot = executor.one_offs++;
    thread.cpus = executor.cpus;
    executor.idle.push_back(threads_.add(thread));
  }
  const Id thread = executor.idle.back();
  executor.idle.pop_back();
  SimulatedThread& own = threads_[thread];
  own.waiting = id;
  own.base_key = callback.key;
  if (is_edf(index) && callback.deadline_ns != 0) {
    own.base_key = -deadline_of(id);
  }
  own.key = own.base_key;
  threads_.wake(thread);
  wait_for_worker(thread);
}

/// Lets an instance that had to wait for its group try again.
void SimulationEngine::resume(Id id) {
  const Instance& instance = instances_[id];
  const Callback& callback = callback_of(instance);
  const Executor& executor = executors_[callback.executor];
  if (callback.lane != kNone) {
    lanes_[callback.lane].insert({entities_[instance.entity].rank, instance.order, id});
    wake_one(lanes_[callback.lane]);
  } else if (executor.scheduler != kNone) {
    lanes_[executor.inbox].insert({entities_[instance.entity].rank, instance.order, id});
    wake_one(lanes_[executor.inbox]);
  } else {
    spawn(callback.executor, id);
  }
}

void SimulationEngine::wake_one(SimulatedLane& lane) {
  for (const Id worker : lane.workers) {
    if (threads_[worker].state == ThreadState::kSleeping) {
      threads_.wake(worker);
      return;
    }
  }
}

void SimulationEngine::arm(Id index) {
  SimulatedLane& lane = lanes_[index];
  const std::int64_t next_ns = lane.timers.next_ns();
  if (next_ns < lane.armed_ns) {
    lane.armed_ns = next_ns;
    schedule(next_ns, EventKind::kLaneTimer, index);
  }
}

/// Removes the release at `nominal_ns` from the schedule and counts those that the policy skips.
void SimulationEngine::advance_schedule(SimulatedTimer& timer, model::OverrunPolicy policy) {
  const std::int64_t period_ns = timer.trigger->period_ns;
  const std::int64_t now_ns = threads_.now_ns();
  timer.nominal_ns += period_ns;
  ++timer.releases;
  if (timer.nominal_ns < now_ns && policy == model::OverrunPolicy::kSkip) {
    const std::int64_t skipped = 1 + (now_ns - timer.nominal_ns - 1) / period_ns;
    timer.nominal_ns += skipped * period_ns;
    timer.releases += static_cast<std::uint64_t>(skipped);
    entities_[timer.entity].counts.released += static_cast<std::uint64_t>(skipped);
    entities_[timer.entity].counts.dropped += static_cast<std::uint64_t>(skipped);
  } else if (timer.nominal_ns < now_ns && policy == model::OverrunPolicy::kRebase) {
    timer.nominal_ns = now_ns + period_ns;
  }
  const std::int64_t jitter_ns =
      delay_at(timer.nominal_ns, timer.trigger->jitter, timer.random, timer.releases);
  timer.due_ns = std::max(timer.due_ns, timer.nominal_ns + jitter_ns);
}

/// Returns an instance for the timer's release that is due; kNone when there is no credit for it.
Id SimulationEngine::expire(Id index) {
  SimulatedTimer& timer = timers_[index];
  const std::int64_t release_ns = timer.nominal_ns;
  const std::int64_t ready_ns = timer.due_ns;
  const std::uint64_t number = timer.releases;
  advance_schedule(timer, timer.trigger->overrun);
  return make_instance(timer.entity, release_ns, ready_ns, number);
}

/// Appends the instances that were submitted to the lane, and those of timers that are due, to its
/// queue, merged in the order of their releases.
void SimulationEngine::collect(SimulatedLane& lane) {
  auto pushed = lane.pushed.begin();
  const auto append = [&](Id instance) {
    instances_[instance].order = lane.next_order++;
    lane.insert(
        {entities_[instances_[instance].entity].rank, instances_[instance].order, instance});
  };
  while (lane.timers.next_ns() <= threads_.now_ns()) {
    while (pushed != lane.pushed.end() && instances_[*pushed].ready_ns <= lane.timers.next_ns()) {
      append(*pushed++);
    }
    const Id timer = lane.timers.take();
    const Id released = expire(timer);
    lane.timers.add(timer);
    if (released != kNone) {
      append(released);
    }
  }
  while (pushed != lane.pushed.end()) {
    append(*pushed++);
  }
  lane.pushed.clear();
}

/// Releases timers at once; for scheduling that takes no time.
void SimulationEngine::drain(SimulatedLane& inbox) {
  while (inbox.timers.next_ns() <= threads_.now_ns()) {
    const Id timer = inbox.timers.take();
    const Id released = expire(timer);
    inbox.timers.add(timer);
    if (released != kNone) {
      submit(released);
    }
  }
}

/// Enters the group by the immediate ceiling: first the priority, then the group.
bool SimulationEngine::enter(Id thread, Id id) {
  const Instance& instance = instances_[id];
  const Callback& callback = callback_of(instance);
  SimulatedGroup& group = groups_[callback.group];
  SimulatedThread& own = threads_[thread];
  if (executors_[own.executor].kind->keeps_cpu) {
    threads_.set_key(thread, kNotPreemptable);
  } else if (!is_edf(own.executor)) {
    threads_.set_key(thread, std::max(own.key, group.ceiling));
  }
  if (group.enter({id, callback.stated->level, instance.order})) {
    return true;
  }
  threads_.set_key(thread, own.base_key);
  return false;
}

void SimulationEngine::pick(Id thread) {
  switch (threads_[thread].kind) {
    case ThreadKind::kWorker:
      (this->*executors_[threads_[thread].executor].kind->pick)(thread);
      break;
    case ThreadKind::kScheduler:
      pick_for_scheduler(thread);
      break;
    case ThreadKind::kOneOff:
      pick_for_one_off(thread);
      break;
    case ThreadKind::kLoop:
      pick_for_loop(thread);
      break;
  }
}

void SimulationEngine::pick_from_lane(Id thread) {
  const Id index = threads_[thread].lane;
  SimulatedLane& lane = lanes_[index];
  collect(lane);
  while (!lane.empty()) {
    const Id instance = lane.take_first();
    if (enter(thread, instance)) {
      begin(thread, instance);
      // Another worker takes the rest and arms the timer.
      if (!lane.empty() || (!lane.timers.empty() && lane.armed_ns == kNever)) {
        wake_one(lane);
      }
      return;
    }
  }
  threads_.sleep(thread);
  arm(index);
}

void SimulationEngine::pick_for_scheduler(Id thread) {
  const Id index = threads_[thread].lane;
  SimulatedLane& inbox = lanes_[index];
  collect(inbox);
  if (inbox.empty()) {
    threads_.sleep(thread);
    arm(index);
    return;
  }
  threads_[thread].instance = inbox.take_first();
  threads_.work(thread, warms_up() ? 0 : executors_[inbox.executor].handling_ns);
  if (!inbox.empty()) {
    wake_one(inbox);
  }
}

void SimulationEngine::pick_for_one_off(Id thread) {
  const Id instance = threads_[thread].waiting;
  if (instance == kNone) {
    retire(thread);
  } else if (!may_start_on_worker(thread)) {
    threads_.sleep(thread);
  } else {
    threads_[thread].waiting = kNone;
    if (enter(thread, instance)) {
      start_on_worker(thread, instance);
      begin(thread, instance);
    } else {
      retire(thread);
    }
  }
}

void SimulationEngine::retire(Id thread) {
  threads_.sleep(thread);
  executors_[threads_[thread].executor].idle.push_back(thread);
}

}  // namespace rclrt::analysis::detail
