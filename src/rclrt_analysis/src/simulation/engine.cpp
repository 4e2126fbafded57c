// SPDX-License-Identifier: Apache-2.0
#include "simulation/engine.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::analysis::detail {

void SimulationEngine::schedule(std::int64_t time_ns, EventKind kind, Id index) {
  if (time_ns < options_.horizon_ns) {
    events_.push({time_ns, next_event_++, kind, index});
  }
}

SimulationResult SimulationEngine::run() {
  constexpr std::uint32_t kRoundsBetween = 4096;
  for (std::uint32_t round = 0;; ++round) {
    if (round % kRoundsBetween == 0 && options_.check_interrupt != nullptr) {
      options_.check_interrupt();
    }
    update_cpus();
    if (result_.instances >= options_.max_instances) {
      result_.end_ns = threads_.now_ns();
      break;
    }
    const std::int64_t next_ns =
        std::min(threads_.next_finish_ns(), events_.empty() ? kNever : events_.top().time_ns);
    if (next_ns >= options_.horizon_ns) {
      result_.end_ns = options_.horizon_ns;
      threads_.set_now(options_.horizon_ns);
      break;
    }
    threads_.set_now(next_ns);
    // Instances that are due to end end first; no new choice is made yet.
    for (const SimulatedCpu& cpu : threads_.cpus()) {
      if (cpu.finish_ns == next_ns && threads_[cpu.thread].instance != kNone) {
        advance(cpu.thread);
      }
    }
    while (!events_.empty() && events_.top().time_ns == next_ns) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
  }
  threads_.stop_all();
  result_.busy_ns = threads_.busy_ns();
  for (const Entity& entity : entities_) {
    SimulatedCounts& counts = result_.callbacks[entity.callback].counts;
    counts.released += entity.counts.released;
    counts.completed += entity.counts.completed;
    counts.dropped += entity.counts.dropped;
  }
  return std::move(result_);
}

/// Proceeds until every CPU either has work that takes time, or is idle.
void SimulationEngine::update_cpus() {
  for (;;) {
    threads_.place();
    const Id cpu = threads_.finished();
    if (cpu == kNone) {
      return;
    }
    proceed(threads_.cpus()[cpu].thread);
  }
}

void SimulationEngine::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kLaneTimer: {
      SimulatedLane& lane = lanes_[event.index];
      if (event.time_ns != lane.armed_ns) {
        return;  // the event is out of date: the lane was re-armed
      }
      lane.armed_ns = kNever;
      if (lane.workers.empty()) {
        drain(lane);
        arm(event.index);
      } else if (lane.timers.next_ns() <= event.time_ns) {
        wake_one(lane);
      } else {
        arm(event.index);
      }
      break;
    }
    case EventKind::kLoopTimer: {
      Executor& executor = executors_[event.index];
      if (event.time_ns == executor.armed_ns) {
        executor.armed_ns = kNever;
        wake_polling(executor);
      }
      break;
    }
    case EventKind::kArrival: {
      UnderWay& one = under_way_[event.index];
      std::vector<Id> released;
      --one.link->under_way;
      deliver(one.link->entity, std::move(one.message), released);
      free_under_way_.push_back(event.index);
      for (const Id instance : released) {
        submit(instance);
      }
      break;
    }
    case EventKind::kRelease:
      release(event.index);
      break;
    case EventKind::kLink:
      if (queues_[event.index].next_ns() == event.time_ns) {  // otherwise it is out of date
        proceed_link(event.index);
      }
      break;
    case EventKind::kWaitEnd:
      threads_.wake(event.index);
      break;
  }
}

/// Takes the next step of a thread that has a CPU and no work left on it.
void SimulationEngine::proceed(Id thread) {
  if (threads_[thread].instance != kNone) {
    advance(thread);  // and more urgent threads may run before it picks
  } else {
    pick(thread);
  }
}

bool SimulationEngine::advance(Id thread) {
  if (threads_[thread].kind == ThreadKind::kScheduler) {
    pass_on(std::exchange(threads_[thread].instance, kNone));
    return true;
  }
  return advance_instance(thread);
}

/// Draws the execution time of a run, and for how long it waits. Returns the time that it executes
/// before it waits, or all of it.
std::int64_t SimulationEngine::draw_run(Callback& callback, Instance& instance) {
  const SimulatedCallback& stated = *callback.stated;
  const std::int64_t drawn_ns = stated.execution.draw(callback.random, callback.runs);
  const std::int64_t work_ns = warms_up() ? 0 : drawn_ns;
  instance.phase = Phase::kRun;
  if (stated.wait.highest_ns() > 0 && work_ns > 0) {
    instance.wait_ns = stated.wait.draw(callback.waits, callback.runs);
    // After it has waited, it needs the CPU for at least a nanosecond.
    const std::int64_t last_ns = work_ns - 1;
    const std::int64_t before_ns = stated.wait_place == SimulatedCallback::WaitPlace::kExtremes
                                       ? last_ns / 2 * callback.waits.uniform(0, 1) +
                                             (last_ns - last_ns / 2) * callback.waits.uniform(0, 1)
                                       : callback.waits.uniform(0, last_ns);
    if (instance.wait_ns > 0) {
      instance.phase = Phase::kWait;
      instance.rest_ns = work_ns - before_ns;
    }
  }
  ++callback.runs;
  return instance.phase == Phase::kWait ? work_ns - instance.rest_ns : work_ns;
}

/// Lets the callback of a running thread wait. The thread is dispatched anew after that.
void SimulationEngine::start_wait(Id thread, Instance& instance) {
  const Executor& executor = executors_[threads_[thread].executor];
  instance.phase = Phase::kRun;
  threads_.wait(thread, executor.stated->dispatch_ns + instance.rest_ns);
  schedule(threads_.now_ns() + instance.wait_ns, EventKind::kWaitEnd, thread);
}

bool SimulationEngine::advance_instance(Id thread) {
  const Id id = threads_[thread].instance;
  Instance& instance = instances_[id];
  Callback& callback = callbacks_[entities_[instance.entity].callback];
  if (instance.phase == Phase::kDispatch) {
    instance.start_ns = threads_.now_ns();
    if (!take(instance)) {
      finish(thread);
      return true;
    }
    const std::int64_t work_ns = draw_run(callback, instance);
    threads_.work(thread, work_ns);
    if (work_ns > 0) {
      return false;
    }
  }
  if (instance.phase == Phase::kWait) {
    start_wait(thread, instance);
    return false;
  }
  if (instance.phase == Phase::kRun) {
    instance.phase = Phase::kPublish;
    instance.next_topic = 0;
  }
  const Entity& entity = entities_[instance.entity];
  auto& topics = links_[entity.callback];
  while (instance.next_topic < topics.size()) {
    const std::size_t topic = instance.next_topic++;
    if (!sends(callback, entity.input, topic)) {
      continue;
    }
    publish(instance, topics[topic]);
    threads_.place();
    if (threads_[thread].state != ThreadState::kRunning) {
      return false;  // the thread that the message woke is more urgent
    }
  }
  finish(thread);
  return true;
}

void SimulationEngine::finish(Id thread) {
  SimulatedThread& own = threads_[thread];
  threads_.end_stretch(thread);
  const Id id = own.instance;
  Instance& instance = instances_[id];
  Callback& callback = callbacks_[entities_[instance.entity].callback];
  account_end(instance, own);
  end_credit(instance);
  own.instance = own.callback = kNone;
  SimulatedGroup& group = groups_[callback.group];
  const Id next = group.leave();
  if (next != kNone) {
    resume(next);
  }
  threads_.set_key(thread, own.base_key);
  Executor& executor = executors_[callback.executor];
  leave_worker(thread);
  if (executor.loops.size() > 1) {
    wake_polling(executor);  // it did not ask for entities in this group
  }
  free_instances_.push_back(id);
  ++result_.instances;
}

void SimulationEngine::account_end(const Instance& instance, const SimulatedThread& thread) {
  Entity& entity = entities_[instance.entity];
  const Callback& callback = callbacks_[entity.callback];
  const std::int64_t now_ns = threads_.now_ns();
  if (instance.outcome == SimulatedOutcome::kEmpty) {
    ++entity.counts.dropped;
  } else {
    ++entity.counts.completed;
  }
  const auto add = [](SimulatedResponses& responses, std::int64_t response_ns) {
    responses.best_ns =
        responses.count == 0 ? response_ns : std::min(responses.best_ns, response_ns);
    ++responses.count;
    const bool worse = responses.count == 1 || response_ns > responses.worst_ns;
    responses.worst_ns = std::max(responses.worst_ns, response_ns);
    return worse;
  };
  if (instance.outcome == SimulatedOutcome::kRan) {
    CallbackSimulation& own = result_.callbacks[entity.callback];
    add(own.response, now_ns - instance.release_ns);
    const std::int64_t deadline_ns = callback.stated->deadline_ns;
    own.missed += deadline_ns != 0 && now_ns - instance.release_ns > deadline_ns ? 1 : 0;
    for (const SimulatedToken& token : instance.tokens) {
      if (find(callback, token.chain)->last) {
        ChainSimulation& chain = result_.chains[token.chain];
        const std::int64_t response_ns = now_ns - token.release_ns;
        if (add(chain.response, response_ns)) {
          chain.worst_instance = token.instance;
        }
        const std::int64_t limit_ns = system_.chains[token.chain].deadline_ns;
        chain.missed += limit_ns != 0 && response_ns > limit_ns ? 1 : 0;
      }
    }
  }
  if (observer_ != nullptr) {
    observer_->ended({.id = thread.number,
                      .callback = entity.callback,
                      .level = callback.stated->level,
                      .slot = thread.slot,
                      .cpu = thread.cpu,
                      .release_ns = instance.release_ns,
                      .ready_ns = instance.ready_ns,
                      .start_ns = instance.start_ns,
                      .end_ns = now_ns,
                      .cpu_ns = thread.cpu_ns,
                      .preemptions = thread.preemptions,
                      .outcome = instance.outcome,
                      .input = entity.input,
                      .stamp_ns = instance.taken_ns,
                      .tokens = instance.tokens});
  }
}

}  // namespace rclrt::analysis::detail

namespace rclrt::analysis {

SimulationResult simulate(const SimulatedSystem& system, const SimulationOptions& options,
                          SimulationObserver* observer) {
  return detail::SimulationEngine(system, options, observer).run();
}

}  // namespace rclrt::analysis
