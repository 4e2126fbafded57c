// SPDX-License-Identifier: Apache-2.0
// What the switches of threads say of the callbacks that they run.
#include "thread_switches.hpp"
#include "traced_system.hpp"

namespace rclrt::trace {

void TracedSystem::take_switch(const TraceEvent& event) {
  switch (event.kind) {
    case EventKind::kThreadSwitch: {
      scheduled_.insert(event.pid);
      const auto thread = thread_states_.find({event.pid, static_cast<std::uint64_t>(event.tid)});
      if (thread == thread_states_.end()) {
        break;
      }
      const auto state = static_cast<ThreadState>(event.numbers[0]);
      if (state == ThreadState::kRuns) {
        get_cpu(thread->second, event.time_ns);
      } else {
        leave_cpu(thread->second, event.time_ns, state == ThreadState::kPreempted);
      }
      break;
    }
    case EventKind::kKernelSwitch: {
      all_scheduled_ = true;
      const auto thread_of = [&](std::uint64_t tid) {
        const auto known = thread_of_tid_.find(static_cast<std::int64_t>(tid));
        return known == thread_of_tid_.end() ? thread_states_.end()
                                             : thread_states_.find(known->second);
      };
      if (const auto before = thread_of(event.numbers[0]); before != thread_states_.end()) {
        leave_cpu(before->second, event.time_ns, event.numbers[2] == 0);  // TASK_RUNNING
      }
      if (const auto next = thread_of(event.numbers[1]); next != thread_states_.end()) {
        get_cpu(next->second, event.time_ns);
      }
      break;
    }
    default:
      lose_switches();
  }
}

void TracedSystem::leave_cpu(Thread& thread, std::int64_t time_ns, bool preempted) {
  thread.off_since_ns = time_ns;
  thread.preempted = preempted;
}

void TracedSystem::get_cpu(Thread& thread, std::int64_t time_ns) {
  for (Running& each : thread.running) {
    TracedInstance& instance = each.instance;
    if (thread.off_since_ns < instance.start_ns || time_ns < thread.off_since_ns) {
      instance.scheduled = false;  // when it lost the CPU is not in the trace
    } else if (thread.preempted) {
      instance.preempted_ns += time_ns - thread.off_since_ns;
      ++instance.preemptions;
    } else {
      instance.waited_ns += time_ns - thread.off_since_ns;
    }
  }
  thread.off_since_ns = 0;
}

/// Nobody knows which threads have a CPU now.
void TracedSystem::lose_switches() {
  ++gaps_.switches_lost;
  for (auto& [handle, thread] : thread_states_) {
    thread.off_since_ns = 0;
    for (Running& each : thread.running) {
      each.instance.scheduled = false;
    }
  }
}

}  // namespace rclrt::trace
