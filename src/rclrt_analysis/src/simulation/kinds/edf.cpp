// SPDX-License-Identifier: Apache-2.0
// How an EDF executor chooses its next instance, and the instance's priority among the other
// executors on its CPU.
#include <algorithm>
#include <cstdint>
#include <set>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

/// Sets up the stack of workers. If all EDF executors have CPUs of their own, deadlines are the
/// threads' keys.
void SimulationEngine::set_up_stack(Id index) {
  Executor& executor = executors_[index];
  bool shares = false;
  for (Id other = 0; other < executors_.size(); ++other) {
    shares = shares || (other != index && executors_[other].kind == &kEdf &&
                        (executors_[other].cpus & executor.cpus) != 0);
  }
  if (!shares) {
    return;
  }
  std::set<std::int64_t> deadlines;
  for (const Callback& callback : callbacks_) {
    if (callback.executor == index) {
      deadlines.insert(callback.deadline_ns);
    }
  }
  const auto most = static_cast<std::size_t>(std::max<Key>(executor.stated->top_priority - 1, 1));
  executor.stack.emplace().workers = std::clamp<std::size_t>(deadlines.size(), 1, most);
}

Key SimulationEngine::worker_key(const Executor& executor, std::size_t worker) const {
  return executor.stated->top_priority - static_cast<Key>(executor.stack->workers - worker);
}

/// Returns the absolute deadline of an instance.
std::int64_t SimulationEngine::deadline_of(Id instance) const {
  const std::int64_t relative_ns = callback_of(instances_[instance]).deadline_ns;
  return relative_ns == 0 ? kNever : instances_[instance].release_ns + relative_ns;
}

/// Adds a ready thread that has an instance to start.
void SimulationEngine::wait_for_worker(Id thread) {
  Executor& executor = executors_[threads_[thread].executor];
  if (executor.stack) {
    executor.stack->waiting.push_back(thread);
    threads_.set_key(thread, kBackground);  // until it is the next to start
    choose_next(executor, std::nullopt);
  }
}

/// Starts the thread's instance, which waited.
void SimulationEngine::start_on_worker(Id thread, Id instance) {
  Executor& executor = executors_[threads_[thread].executor];
  if (executor.stack) {
    EdfStack& stack = *executor.stack;
    std::erase(stack.waiting, thread);
    stack.next = kNone;
    threads_[thread].base_key = worker_key(executor, stack.started.size());
    threads_.set_key(thread, threads_[thread].base_key);
    stack.started.push_back({thread, deadline_of(instance)});
    choose_next(executor, std::nullopt);
  }
}

/// Frees the worker when the thread's instance has ended or does not start. The worker goes on with
/// the next instance and keeps its place among those of its priority.
void SimulationEngine::leave_worker(Id thread) {
  Executor& executor = executors_[threads_[thread].executor];
  if (executor.stack) {
    EdfStack& stack = *executor.stack;
    std::erase(stack.waiting, thread);
    std::erase_if(stack.started, [thread](const auto& each) { return each.thread == thread; });
    stack.next = stack.next == thread ? kNone : stack.next;
    choose_next(executor, threads_[thread].stamp);
  }
}

/// Chooses the next instance to start. The waiting one with the earliest deadline may start if all
/// started ones have later deadlines and no group blocks it; otherwise none may. It gets the place
/// of the one that was to start before it, or `place`.
void SimulationEngine::choose_next(Executor& executor, std::optional<std::uint64_t> place) {
  EdfStack& stack = *executor.stack;
  const auto is_earlier = [this](Id a, Id b) {
    const Id one = threads_[a].waiting;
    const Id other = threads_[b].waiting;
    return deadline_of(one) != deadline_of(other) ? deadline_of(one) < deadline_of(other)
                                                  : instances_[one].order < instances_[other].order;
  };
  const auto may_start = [&](Id thread) {
    return threads_[thread].state != ThreadState::kSleeping &&
           stack.started.size() < stack.workers &&
           std::ranges::all_of(
               stack.started,
               [&](const EdfStack::Started& each) {
                 return deadline_of(threads_[thread].waiting) < each.deadline_ns;
               });
  };
  const auto found = std::ranges::min_element(stack.waiting, is_earlier);
  const Id next = found != stack.waiting.end() && may_start(*found) ? *found : kNone;
  if (stack.next != kNone && stack.next != next) {
    place = threads_[stack.next].stamp;
    threads_.set_key(stack.next, kBackground);
  }
  if (next != kNone && next != stack.next) {
    threads_[next].stamp = place.value_or(threads_[next].stamp);
    threads_.set_key(next, worker_key(executor, stack.started.size()));
  }
  stack.next = next;
}

/// Tests by the stack resource policy (Baker 1991) whether an instance must wait: it must if a busy
/// group has a member with a relative deadline no longer than its own. Meanwhile the holder of that
/// group inherits its deadline.
bool SimulationEngine::blocked_by_ceiling(Id thread) {
  SimulatedThread& own = threads_[thread];
  Executor& executor = executors_[own.executor];
  const std::int64_t relative_ns = callback_of(instances_[own.waiting]).deadline_ns;
  bool blocked = false;
  for (const Id index : executor.shared_groups) {
    const SimulatedGroup& group = groups_[index];
    if (group.busy() && (relative_ns == 0 || relative_ns >= group.shortest_deadline_ns)) {
      blocked = true;
      if (!executor.stack) {
        threads_.set_key(group.holder, std::max(threads_[group.holder].key, own.key));
      }
    }
  }
  if (blocked) {
    threads_.sleep(thread);
    executor.blocked.push_back(thread);
    if (executor.stack) {
      executor.stack->next = kNone;  // an instance with a later deadline may not start either
      threads_.set_key(thread, kBackground);
    }
  }
  return blocked;
}

constinit const SimulationEngine::Kind SimulationEngine::kEdf{
    .on_one_cpu = true,
    .add_threads = &SimulationEngine::add_instant_scheduler,
    .complete = &SimulationEngine::set_up_stack,
    .is_blocked = &SimulationEngine::blocked_by_ceiling,
};

}  // namespace rclrt::analysis::detail
