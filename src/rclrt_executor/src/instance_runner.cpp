// SPDX-License-Identifier: Apache-2.0
#include "instance_runner.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <climits>
#include <utility>

#include "cpu_estimate.hpp"
#include "rclrt/realtime/clock.hpp"
#include "saturating.hpp"
#include "spin_state.hpp"
#include "thread_settings.hpp"

namespace rclrt::executor {

namespace {

thread_local const InstanceInfo* t_current = nullptr;
thread_local const InstanceRunner* t_runner = nullptr;  // the runner of the thread's callback
thread_local constinit CpuEstimate t_cpu;

std::uint32_t involuntary_switches() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint32_t>(usage.ru_nivcsw);
}

/// Counts the outcome of an instance and returns it. Called after `judge`, because the count of
/// deadline misses must change before the count of completed instances.
Outcome count(detail::CallbackState& state, Outcome outcome, bool polls) noexcept {
  if (outcome != Outcome::kEmpty) {
    state.completed.fetch_add(1, std::memory_order_release);
  } else if (polls && Access::state(state.group).type() == GroupType::kReentrant) {
    // Another thread had chosen the same message and had not taken it yet: there was no release.
    state.released.fetch_sub(1, std::memory_order_relaxed);
  } else {
    state.drop(1);
  }
  return outcome;
}

/// Sets the times of an instance that found no message, which are not set yet.
void fill_in_times(InstanceInfo& info, std::int64_t end_ns) noexcept {
  info.release_ns = info.release_ns != 0 ? info.release_ns : end_ns;
  info.ready_ns = info.ready_ns != 0 ? info.ready_ns : info.release_ns;
  info.start_ns = info.start_ns != 0 ? info.start_ns : end_ns;
}

}  // namespace

const InstanceInfo* current_instance() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", t_current);
}

InstanceRunner::InstanceRunner(const ExecutorOptions& options, const ThreadSettings& threads,
                               SpinState& spin)
    : threads_(threads),
      spin_(spin),
      sink_(options.sink),
      watch_(options.on_miss == nullptr
                 ? nullptr
                 : std::make_unique<MissWatch>(*options.on_miss, options.miss_history,
                                               options.reservations.size())) {}

void InstanceRunner::watch(Callback& callback, std::size_t cpus) {
  if (watch_) {
    state_of(callback).kept_name = &watch_->keep(callback.name());
    if (callback.deadline_ns() != 0) {
      watch_->set_cpus(cpus);
      watch_->start();
    }
  }
}

bool InstanceRunner::in_own_callback() const noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", t_runner == this);
}

[[gnu::hot]] void InstanceRunner::execute(Instance* instance, const Worker& worker,
                                          WorkerPriority& priority) noexcept {
  Callback& callback = *instance->callback;
  detail::CallbackState& state = state_of(callback);
  if (state.removed.load()) {
    state.discard(instance);
  } else {
    InstanceInfo info = state.begin(instance);
    run(callback, info, worker);
    state.end(instance);
  }
  leave(callback, priority);
}

std::optional<InstanceInfo> InstanceRunner::read(Instance* instance) noexcept {
  Callback& callback = *instance->callback;
  InstanceInfo info = state_of(callback).begin(instance);
  try {
    Access::take_input(callback, info);
  } catch (...) {
    spin_.fail();
    give_up_read(callback, instance);
    return std::nullopt;
  }
  return info;
}

void InstanceRunner::execute_read(Instance* instance, InstanceInfo info, const Worker& worker,
                                  WorkerPriority& priority) noexcept {
  Callback& callback = *instance->callback;
  detail::CallbackState& state = state_of(callback);
  if (state.removed.load()) {
    give_up_read(callback, instance);
  } else {
    run(callback, info, worker);
    state.end(instance);
  }
  leave(callback, priority);
}

void InstanceRunner::give_up_read(Callback& callback, Instance* instance) noexcept {
  Access::discard_input(callback);
  state_of(callback).end_without_run(instance);
}

/// Leaves the group, unpins the callback and restores the thread's priority.
[[gnu::hot]] void InstanceRunner::leave(Callback& callback, WorkerPriority& priority) noexcept {
  detail::CallbackState& state = state_of(callback);
  if (Instance* const next = Access::state(state.group).leave()) {
    state_of(*next->callback).lane.load()->resume(next);
  }
  state.unpin();
  priority.restore();  // last: what was resumed is in its lane before other threads run
}

void InstanceRunner::abandon(Instance* instance) noexcept {
  Callback& callback = *instance->callback;
  if (Instance* const next = group_of(callback).forget(instance)) {
    state_of(*next->callback).lane.load()->resume(next);
  }
  state_of(callback).discard(instance);
}

void InstanceRunner::execute_polled(Callback& callback, std::int64_t release_ns,
                                    std::int64_t ready_ns, std::uint32_t slot) noexcept {
  detail::CallbackState& state = state_of(callback);
  if (!state.removed.load()) {
    InstanceInfo info{.release_ns = release_ns, .ready_ns = ready_ns, .level = callback.level()};
    state.released.fetch_add(1, std::memory_order_relaxed);
    run(callback, info,
        {.slot = slot, .priority = 0, .polls = true});  // no priority: nothing preempts
  }
}

[[gnu::hot]] Outcome InstanceRunner::run_user_code(Callback& callback,
                                                   InstanceInfo& info) noexcept {
  const InstanceInfo* const outer = std::exchange(t_current, &info);
  const InstanceRunner* const outer_runner = std::exchange(t_runner, this);
  RunningTable::Slot* const slot = running_.enter(callback, info.id);
  Outcome outcome = Outcome::kThrew;
  try {
    outcome = Access::run(callback, info);
  } catch (...) {
    spin_.fail();
  }
  RunningTable::leave(slot);
  t_current = outer;
  t_runner = outer_runner;
  return outcome;
}

[[gnu::hot]] void InstanceRunner::run(Callback& callback, InstanceInfo& info,
                                      const Worker& worker) noexcept {
  info.id = next_id_.fetch_add(1, std::memory_order_relaxed);  // only unique numbers
  const bool observed = sink_ != nullptr || watch_ != nullptr || callback.deadline_ns() != 0;
  const Outcome outcome =
      observed ? run_observed(callback, info, worker)
               : count(state_of(callback), run_user_code(callback, info), worker.polls);
  if (outcome != Outcome::kEmpty) {
    spin_.instance_ended();
  }
}

/// Returns the history's entry for an instance that starts now.
ExecutionInterval InstanceRunner::interval_of(Callback& callback, const InstanceInfo& info,
                                              int priority) const noexcept {
  const detail::CallbackState& state = state_of(callback);
  const Group* const group = state.options.group.get();
  const bool excludes = group != nullptr && group->type() == GroupType::kMutuallyExclusive;
  return {.id = info.id,
          .callback = *state.kept_name,
          .level = info.level,
          .deadline_ns = saturating_add(info.release_ns,
                                        state.ordering_deadline_ns.load(std::memory_order_relaxed)),
          // SCHED_DEADLINE is above all of SCHED_FIFO.
          .priority = threads_.realtime() && threads_.is_reserved(info.level) ? INT_MAX : priority,
          .group = excludes ? group : nullptr,
          .start_ns = realtime::monotonic_now_ns()};
}

/// Runs an instance and measures the times that a sink, a deadline or its blame needs.
Outcome InstanceRunner::run_observed(Callback& callback, InstanceInfo& info,
                                     const Worker& worker) noexcept {
  const bool watched = watch_ != nullptr && watch_->active();
  const bool is_timed = sink_ != nullptr || watched;
  const bool is_exact =
      sink_ != nullptr || !worker.only_runs_instances;  // a record is a measurement
  const std::int64_t cpu_before = is_timed ? t_cpu.begin(is_exact) : 0;
  const std::uint32_t switches_before = sink_ != nullptr ? involuntary_switches() : 0;
  const int start_cpu = sink_ != nullptr ? sched_getcpu() : -1;
  ExecutionInterval interval;
  InstanceHistory::Place* place = nullptr;
  if (watched) {
    interval = interval_of(callback, info, worker.priority);
    place = watch_->history().begin(interval, *state_of(callback).kept_name);
  }

  const Outcome outcome = run_user_code(callback, info);

  InstanceRecord record;
  record.end_ns = realtime::monotonic_now_ns();
  fill_in_times(info, record.end_ns);
  if (is_timed) {
    record.cpu_ns = t_cpu.took(cpu_before, record.end_ns - info.start_ns, is_exact);
  }
  if (place != nullptr) {
    InstanceHistory::end(*place, record.end_ns, record.cpu_ns);
  }
  if (callback.deadline_ns() != 0 && outcome != Outcome::kEmpty && outcome != Outcome::kBuffered) {
    interval.ready_ns = info.ready_ns;
    interval.end_ns = record.end_ns;
    interval.cpu_ns = record.cpu_ns;
    judge(callback, info, interval,
          threads_.realtime() && worker.priority == 0 && threads_.is_reserved(info.level));
  }
  count(state_of(callback), outcome, worker.polls);
  if (sink_ != nullptr) {
    record.end_cpu = sched_getcpu();
    record.start_cpu = start_cpu;
    record.preemptions = involuntary_switches() - switches_before;
    record.info = info;
    record.callback = &callback;
    record.slot = worker.slot;
    record.outcome = outcome;
    sink_->record(record);
  }
  return outcome;
}

/// Checks the deadline and reports a miss, with the releases dropped since the last one.
void InstanceRunner::judge(Callback& callback, const InstanceInfo& info,
                           const ExecutionInterval& interval, bool has_budget) noexcept {
  detail::CallbackState& state = state_of(callback);
  const bool late = interval.end_ns - info.counts_from_ns() > state.deadline_ns;
  if (late) {
    state.missed.fetch_add(1, std::memory_order_relaxed);  // statistics; see count()
  }
  if (watch_ == nullptr) {
    return;
  }
  // relaxed: the exchange alone assigns each drop to one report
  const std::uint64_t dropped = state.unreported_drops.exchange(0, std::memory_order_relaxed);
  if (late || dropped != 0) {
    DeadlineMiss miss{.callback = &callback,
                      .info = info,
                      .deadline_ns = state.deadline_ns,
                      .end_ns = interval.end_ns,
                      .dropped = dropped};
    watch_->report(miss, interval, has_budget);
  }
}

}  // namespace rclrt::executor
