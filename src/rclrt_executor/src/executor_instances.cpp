// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <utility>

#include "miss_watch.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/realtime/clock.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

namespace {

thread_local const InstanceInfo* t_current = nullptr;
thread_local const Executor* t_executor = nullptr;  // whose callback the thread is running

std::uint32_t involuntary_switches() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint32_t>(usage.ru_nivcsw);
}

}  // namespace

const InstanceInfo* current_instance() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", t_current);
}

bool Executor::in_own_callback() const noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", t_executor == this);
}

[[gnu::hot]] void Executor::execute(Instance* instance, std::uint32_t slot,
                                    WorkerPriority& priority) noexcept {
  Callback& callback = *instance->callback;
  if (callback.removed_.load()) {
    callback.discard(instance);
  } else {
    InstanceInfo info = callback.begin(instance);
    run(callback, info, slot, rank_of(priority.now(), slot));
    callback.end(instance);
  }
  if (Instance* const next = callback.group().leave()) {
    next->callback->resume(next);
  }
  callback.unpin();
  priority.restore();  // last: what was resumed above is in its lane before anybody runs again
}

void Executor::abandon(Instance* instance) noexcept {
  Callback& callback = *instance->callback;
  if (Instance* const next = callback.group().forget(instance)) {
    next->callback->resume(next);
  }
  callback.discard(instance);
}

void Executor::execute(Callback& callback, std::int64_t release_ns, std::int64_t ready_ns,
                       std::uint32_t slot) noexcept {
  callback.pin();
  if (!callback.removed_.load()) {
    InstanceInfo info{.release_ns = release_ns, .ready_ns = ready_ns, .level = callback.level()};
    callback.released_.fetch_add(1, std::memory_order_relaxed);
    run(callback, info, slot, 0);  // nobody who polls preempts
  }
  callback.unpin();
}

[[gnu::hot]] Outcome Executor::run_user_code(Callback& callback, InstanceInfo& info) noexcept {
  const InstanceInfo* const outer = std::exchange(t_current, &info);
  const Executor* const outer_executor = std::exchange(t_executor, this);
  Outcome outcome = Outcome::kThrew;
  try {
    outcome = callback.run(info);
  } catch (...) {
    fail();
  }
  t_current = outer;
  t_executor = outer_executor;
  return outcome;
}

/// `priority` is the rank of the thread.
[[gnu::hot]] void Executor::run(Callback& callback, InstanceInfo& info, std::uint32_t slot,
                                int priority) noexcept {
  info.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  const bool observed = sink_ != nullptr || watch_ != nullptr || callback.deadline_ns() != 0;
  const Outcome outcome = observed ? run_observed(callback, info, slot, priority)
                                   : count(callback, run_user_code(callback, info));
  if (limit_.load(std::memory_order_relaxed) == SpinLimit::kOne && outcome != Outcome::kEmpty) {
    one_ended_.store(true);
    cancel();
  }
}

/// What became of an instance; after `judge`, whose count must not come after this one.
Outcome Executor::count(Callback& callback, Outcome outcome) const noexcept {
  if (outcome != Outcome::kEmpty) {
    callback.completed_.fetch_add(1, std::memory_order_release);
  } else if (!listens() && callback.group().type() == GroupType::kReentrant) {
    // Another thread had drawn the same message and not taken it yet: nothing was released.
    callback.released_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    callback.drop(1);
  }
  return outcome;
}

/// With the times that a sink, a deadline or the blame for one needs.
Outcome Executor::run_observed(Callback& callback, InstanceInfo& info, std::uint32_t slot,
                               int priority) noexcept {
  InstanceSink* const sink = sink_;
  const bool watched = watch_ != nullptr && watch_->active();
  const std::int64_t cpu_before = sink != nullptr || watched ? realtime::thread_cpu_now_ns() : 0;
  const std::uint32_t switches_before = sink != nullptr ? involuntary_switches() : 0;
  ExecutionInterval interval;
  InstanceHistory::Place* place = nullptr;
  if (watched) {
    Group* const group = callback.shared_group().get();
    interval = {.id = info.id,
                .callback = *callback.kept_name_,
                .level = info.level,
                .deadline_ns = ordering_deadline_ns(callback, info.release_ns),
                // SCHED_DEADLINE is above all of SCHED_FIFO.
                .priority = realtime_ && is_reserved(info.level) ? INT_MAX : priority,
                .group = group != nullptr && group->type() == GroupType::kMutuallyExclusive
                             ? group
                             : nullptr,
                .start_ns = realtime::monotonic_now_ns()};
    place = watch_->history().begin(interval, *callback.kept_name_);
  }

  const Outcome outcome = run_user_code(callback, info);

  InstanceRecord record;
  record.end_ns = realtime::monotonic_now_ns();
  // An instance that found nothing never had the times only its message could tell.
  info.release_ns = info.release_ns != 0 ? info.release_ns : record.end_ns;
  info.ready_ns = info.ready_ns != 0 ? info.ready_ns : info.release_ns;
  info.start_ns = info.start_ns != 0 ? info.start_ns : record.end_ns;
  if (sink != nullptr || watched) {
    record.cpu_ns = realtime::thread_cpu_now_ns() - cpu_before;
  }
  if (place != nullptr) {
    InstanceHistory::end(*place, record.end_ns, record.cpu_ns);
  }
  if (callback.deadline_ns() != 0 && outcome != Outcome::kEmpty && outcome != Outcome::kBuffered) {
    interval.ready_ns = info.ready_ns;
    interval.end_ns = record.end_ns;
    interval.cpu_ns = record.cpu_ns;
    // Only the threads of levels with a budget have no SCHED_FIFO priority.
    judge(callback, info, interval, realtime_ && priority == 0 && !options_.reservations.empty());
  }
  count(callback, outcome);
  if (sink != nullptr) {
    record.preemptions = involuntary_switches() - switches_before;
    record.info = info;
    record.callback = &callback;
    record.slot = slot;
    record.outcome = outcome;
    sink->record(record);
  }
  return outcome;
}

/// Whether it was in time; and what was lost before it.
void Executor::judge(Callback& callback, const InstanceInfo& info,
                     const ExecutionInterval& interval, bool has_budget) noexcept {
  const bool late = interval.end_ns - info.release_ns > callback.deadline_ns();
  if (late) {
    callback.missed_.fetch_add(1, std::memory_order_relaxed);
  }
  if (watch_ == nullptr) {
    return;
  }
  const std::uint64_t dropped = callback.dropped_untold_.exchange(0, std::memory_order_relaxed);
  if (late || dropped != 0) {
    DeadlineMiss miss{.callback = &callback,
                      .info = info,
                      .deadline_ns = callback.deadline_ns(),
                      .end_ns = interval.end_ns,
                      .dropped = dropped};
    watch_->report(miss, interval, has_budget);
  }
}

}  // namespace rclrt::executor
