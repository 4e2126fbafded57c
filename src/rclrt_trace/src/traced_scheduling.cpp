// SPDX-License-Identifier: Apache-2.0
// CPU times and preemptions of callbacks, from the switches of their threads.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "ctf_types.hpp"
#include "thread_switches.hpp"
#include "traced_system.hpp"

namespace rclrt::trace {

namespace {

constexpr std::uint64_t kStates = 0xFF;

}  // namespace

void TracedSystem::take_switch(const TraceEvent& event) {
  last_switch_ns_ = event.time_ns;
  switch (event.kind) {
    case EventKind::kThreadSwitch: {
      scheduled_.emplace(event.space, event.pid);
      count_cpu_time(event);
      const auto process = process_numbers_.find({event.space, event.pid});
      if (process == process_numbers_.end()) {
        break;
      }
      const auto thread =
          thread_states_.find({process->second, static_cast<std::uint64_t>(event.tid)});
      if (thread == thread_states_.end()) {
        break;
      }
      const auto state = static_cast<ThreadState>(event.numbers[0]);
      if (state == ThreadState::kRuns) {
        get_cpu(thread->second, event);
      } else {
        leave_cpu(thread->second, event.time_ns, state == ThreadState::kPreempted);
      }
      break;
    }
    case EventKind::kKernelSwitch: {
      all_scheduled_ = true;
      const auto thread_of = [&](std::uint64_t tid) {
        const auto known = thread_of_tid_.find(static_cast<std::int64_t>(tid));
        return known == thread_of_tid_.end() || !known->second
                   ? thread_states_.end()
                   : thread_states_.find(*known->second);
      };
      if (const auto before = thread_of(event.numbers[0]); before != thread_states_.end()) {
        // TASK_RUNNING, or the bit above the states by which LTTng's module marks a preemption.
        const bool preempted = (event.numbers[2] & kStates) == 0;
        leave_cpu(before->second, event.time_ns, preempted);
      }
      if (const auto next = thread_of(event.numbers[1]); next != thread_states_.end()) {
        get_cpu(next->second, event);
      }
      break;
    }
    default:
      lose_switches(static_cast<std::int64_t>(event.numbers[1]));
  }
}

/// Counts the CPU time of a thread from the first run of a callback on.
void TracedSystem::count_cpu_time(const TraceEvent& event) {
  CpuTime& time = cpu_times_[{event.space, event.pid, event.tid}];
  if (static_cast<ThreadState>(event.numbers[0]) == ThreadState::kRuns) {
    time.since_ns = event.time_ns;
    return;
  }
  const std::int64_t since_ns = std::exchange(time.since_ns, 0);
  const std::int64_t from_ns = std::max(since_ns, first_run_ns_);
  if (first_run_ns_ != 0 && since_ns != 0 && from_ns < event.time_ns) {
    time.total_ns = std::min(time.total_ns + event.time_ns - from_ns, ctf::kLatestSigned_ns);
  }
}

std::vector<OtherThreads> TracedSystem::other_threads() const {
  std::set<std::pair<std::int64_t, std::int64_t>> of_callbacks;  // process and thread
  for (const TracedInstance& instance : instances_) {
    const TracedThread& thread = threads_[instance.thread];
    of_callbacks.emplace(thread.process, thread.tid);
  }
  for (const RunTotals& totals : totals_) {
    for (const auto& [thread, span] : totals.threads) {
      of_callbacks.emplace(threads_[thread].process, threads_[thread].tid);
    }
  }
  std::map<std::int64_t, OtherThreads> result;
  for (const auto& [key, time] : cpu_times_) {
    const auto& [space, pid, tid] = key;
    const auto process = process_numbers_.find({space, pid});
    if (process == process_numbers_.end() || time.total_ns == 0 ||
        of_callbacks.contains({process->second, tid})) {
      continue;
    }
    OtherThreads& of_process = result[process->second];
    of_process.process = process->second;
    ++of_process.threads;
    of_process.cpu_ns += time.total_ns;
  }
  std::vector<OtherThreads> list;
  for (const auto& [process, threads] : result) {
    list.push_back(threads);
  }
  return list;
}

bool TracedSystem::is_scheduled(std::int64_t process) const {
  const TracedProcess& of = processes_[static_cast<std::size_t>(process)];
  return scheduled_.contains({of.space, of.pid});
}

void TracedSystem::leave_cpu(Thread& thread, std::int64_t time_ns, bool preempted) {
  thread.off_since_ns = time_ns;
  thread.preempted = preempted;
  for (Running& each : thread.running) {
    end_part(each, time_ns);
  }
}

/// Ends the part of a run that is on a CPU, if it is on one.
void TracedSystem::end_part(Running& running, std::int64_t time_ns) {
  const std::int64_t since_ns = std::exchange(running.on_since_ns, 0);
  if (since_ns != 0 && since_ns < time_ns) {
    running.parts.push_back({.cpu = running.cpu, .start_ns = since_ns, .end_ns = time_ns});
  }
}

/// Keeps the parts of a run that was interrupted, if the CPU of each is known.
void TracedSystem::keep_parts(TracedInstance& instance,
                              const std::vector<recorder::CpuPart>& parts) {
  const bool known = std::ranges::none_of(
      parts, [](const recorder::CpuPart& part) { return part.cpu == recorder::kUnknownCpu; });
  if (instance.scheduled && known && parts.size() > 1) {
    instance.first_part = cpu_parts_.size();
    instance.part_count = static_cast<std::uint32_t>(parts.size());
    cpu_parts_.insert(cpu_parts_.end(), parts.begin(), parts.end());
  }
}

void TracedSystem::get_cpu(Thread& thread, const TraceEvent& event) {
  const std::int64_t time_ns = event.time_ns;
  for (Running& each : thread.running) {
    each.cpu = event.cpu;
    each.on_since_ns = time_ns;
    TracedInstance& instance = each.instance;
    if (thread.off_since_ns < instance.start_ns || time_ns < thread.off_since_ns) {
      instance.scheduled = false;  // the trace lacks the time at which it lost the CPU
    } else {
      // Each term is below 2^61, also in a damaged trace.
      std::int64_t& sum = thread.preempted ? instance.preempted_ns : instance.waited_ns;
      sum = std::min(sum + time_ns - thread.off_since_ns, ctf::kLatestSigned_ns);
      instance.preemptions += thread.preempted ? 1 : 0;
    }
  }
  thread.off_since_ns = 0;
}

/// Discards the scheduling state after lost events: it is not known which threads have a CPU now,
/// nor which threads had one since `since_ns`.
void TracedSystem::lose_switches(std::int64_t since_ns) {
  ++gaps_.switches_lost;
  doubt_scheduling(since_ns);
  for (auto& [handle, thread] : thread_states_) {
    thread.off_since_ns = 0;
    for (Running& each : thread.running) {
      each.instance.scheduled = false;
    }
  }
}

/// Marks the runs that ended after `since_ns`: it is not known when their threads had a CPU.
void TracedSystem::doubt_scheduling(std::int64_t since_ns) {
  for (auto each = instances_.rbegin(); each != instances_.rend() && each->end_ns > since_ns;
       ++each) {
    each->scheduled = false;
  }
}

}  // namespace rclrt::trace
