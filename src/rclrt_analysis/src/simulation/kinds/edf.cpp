// SPDX-License-Identifier: Apache-2.0
// How an EDF executor chooses its next instance, as EdfQueue does, and the instance's priority
// among the other executors on its CPU.
#include <algorithm>
#include <cstdint>
#include <set>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

/// Makes the stack of workers of an EDF executor. As in rclrt's executor, there is one worker for
/// each different relative deadline, because each instance that starts on top of another has a
/// shorter one. With preempts_by_absolute_deadline there are as many workers as priorities below
/// top_priority.
void SimulationEngine::set_up_stack(Id index) {
  Executor& executor = executors_[index];
  std::set<std::int64_t> deadlines;
  for (const Callback& callback : callbacks_) {
    if (callback.executor == index) {
      deadlines.insert(callback.deadline_ns);
    }
  }
  const auto most = static_cast<std::size_t>(std::max<Key>(executor.stated->top_priority - 1, 1));
  executor.stack.emplace().workers = executor.stated->preempts_by_absolute_deadline
                                         ? most
                                         : std::clamp<std::size_t>(deadlines.size(), 1, most);
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

/// Returns whether the thread's instance is the next to start. While a started callback waits, the
/// CPU may be free for others, which are not.
bool SimulationEngine::may_start_on_worker(Id thread) const {
  const auto& stack = executors_[threads_[thread].executor].stack;
  return !stack || stack->next == thread;
}

/// Starts the thread's instance, which waited.
void SimulationEngine::start_on_worker(Id thread, Id instance) {
  Executor& executor = executors_[threads_[thread].executor];
  if (executor.stack) {
    EdfStack& stack = *executor.stack;
    std::erase(stack.waiting, thread);
    stack.next = kNone;
    const std::size_t worker = stack.next_worker();
    threads_[thread].base_key = worker_key(executor, worker);
    threads_.set_key(thread, threads_[thread].base_key);
    const SimulatedGroup& group = groups_[callback_of(instances_[instance]).group];
    const bool has_ceiling = group.shared || !executor.stated->preempts_by_absolute_deadline;
    stack.started.push_back(
        {thread, worker, deadline_of(instance), has_ceiling ? group.shortest_deadline_ns : kNever});
    choose_next(executor, std::nullopt);
  }
}

/// Removes the thread from the stack, because its instance has ended. The worker continues with the
/// next instance and keeps its place among threads of its priority.
void SimulationEngine::leave_worker(Id thread) {
  Executor& executor = executors_[threads_[thread].executor];
  if (executor.stack) {
    EdfStack& stack = *executor.stack;
    std::erase_if(stack.started, [thread](const auto& each) { return each.thread == thread; });
    choose_next(executor, threads_[thread].stamp);
  }
}

/// Chooses the next instance to start: the waiting one with the earliest absolute deadline. It may
/// start if all started ones have later deadlines, and if its relative deadline is shorter than the
/// ceilings of all started ones (stack resource policy, Baker 1991); otherwise none is chosen. The
/// chosen one gets the place, among threads of its priority, of the one that was chosen before or,
/// if there was none, `place`.
void SimulationEngine::choose_next(Executor& executor, std::optional<std::uint64_t> place) {
  EdfStack& stack = *executor.stack;
  const auto is_earlier = [this](Id a, Id b) {
    const Id one = threads_[a].waiting;
    const Id other = threads_[b].waiting;
    return deadline_of(one) != deadline_of(other) ? deadline_of(one) < deadline_of(other)
                                                  : instances_[one].order < instances_[other].order;
  };
  const auto may_start = [&](Id thread) {
    const Id instance = threads_[thread].waiting;
    const std::int64_t stated_ns = callback_of(instances_[instance]).deadline_ns;
    const std::int64_t relative_ns = stated_ns == 0 ? kNever : stated_ns;
    return stack.next_worker() < stack.workers &&
           std::ranges::all_of(
               stack.started,
               [&](const EdfStack::Started& each) {
                 return deadline_of(instance) < each.deadline_ns && relative_ns < each.ceiling_ns;
               });
  };
  const auto found = std::ranges::min_element(stack.waiting, is_earlier);
  const Id next = found != stack.waiting.end() && may_start(*found) ? *found : kNone;
  if (stack.next != kNone && stack.next != next) {
    place = threads_[stack.next].stamp;
    threads_.set_key(stack.next, kBackground);
  }
  if (next != kNone && next != stack.next) {
    if (threads_[next].state == ThreadState::kSleeping) {
      threads_.wake(next);
    }
    threads_[next].stamp = place.value_or(threads_[next].stamp);
    threads_.set_key(next, worker_key(executor, stack.next_worker()));
  }
  stack.next = next;
}

constinit const SimulationEngine::Kind SimulationEngine::kEdf{
    .on_one_cpu = true,
    .add_threads = &SimulationEngine::add_instant_scheduler,
    .complete = &SimulationEngine::set_up_stack,
};

}  // namespace rclrt::analysis::detail
