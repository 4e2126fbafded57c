// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <exception>
#include <utility>

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

void Executor::execute(Instance* instance, std::uint32_t slot, WorkerPriority& priority) noexcept {
  Callback& callback = *instance->callback;
  if (callback.removed_.load()) {
    callback.discard(instance);
  } else {
    InstanceInfo info = callback.begin(instance);
    run(callback, info, slot);
    callback.end(instance);
  }
  if (Instance* const next = callback.group().leave()) {
    next->callback->resume(next);
  }
  callback.let_go();
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
  callback.hold();
  if (!callback.removed_.load()) {
    InstanceInfo info{.release_ns = release_ns, .ready_ns = ready_ns, .level = callback.level()};
    callback.released_.fetch_add(1, std::memory_order_relaxed);
    run(callback, info, slot);
  }
  callback.let_go();
}

void Executor::run(Callback& callback, InstanceInfo& info, std::uint32_t slot) noexcept {
  info.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  InstanceSink* const sink = options_.sink;
  const std::int64_t cpu_before = sink != nullptr ? realtime::thread_cpu_now_ns() : 0;
  const std::uint32_t switches_before = sink != nullptr ? involuntary_switches() : 0;
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
  auto& counter = outcome == Outcome::kEmpty ? callback.dropped_ : callback.completed_;
  counter.fetch_add(1, std::memory_order_release);
  if (sink != nullptr) {
    InstanceRecord record;
    record.end_ns = realtime::monotonic_now_ns();
    // An instance that found nothing never had the times only its message could tell.
    info.ready_ns = info.ready_ns != 0 ? info.ready_ns : info.release_ns;
    info.start_ns = info.start_ns != 0 ? info.start_ns : record.end_ns;
    record.cpu_ns = realtime::thread_cpu_now_ns() - cpu_before;
    record.preemptions = involuntary_switches() - switches_before;
    record.info = info;
    record.callback = &callback;
    record.slot = slot;
    record.outcome = outcome;
    sink->record(record);
  }
}

}  // namespace rclrt::executor
