// SPDX-License-Identifier: Apache-2.0
#include "lane_thread.hpp"

#include <sched.h>

#include <algorithm>
#include <set>

#include "instance_runner.hpp"
#include "spin_state.hpp"

namespace rclrt::executor {

namespace {

/// Moves the calling thread to a CPU. Later the thread may run on the same CPUs as before. Does
/// nothing if the kernel refuses, or for `cpu` = -1: a wake-up of the thread then takes longer.
void move_to_cpu(int cpu) noexcept {
  cpu_set_t before;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getcpu() == cpu ||
      sched_getaffinity(0, sizeof before, &before) != 0) {
    return;
  }
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  if (sched_setaffinity(0, sizeof only, &only) == 0) {
    sched_setaffinity(0, sizeof before, &before);
  }
}

}  // namespace

LaneThread::LaneThread(const DispatcherContext& context, Lane& lane, LaneWorker::Kind kind,
                       const realtime::ThreadOptions& options, std::uint32_t slot,
                       bool may_be_raised, int start_cpu)
    : worker_(
          kind,
          options.scheduling.policy == realtime::Policy::kFifo ? options.scheduling.priority : 0,
          may_be_raised) {
  thread_ = realtime::Thread(
      realtime::kDeferStart, options,
      [this, &lane, slot, start_cpu, &spin = context.spin, &runner = context.runner] {
        worker_.begin();
        move_to_cpu(start_cpu);
        spin.await_start();
        move_to_cpu(start_cpu);  // threads that started may have displaced it
        while (Instance* const instance = lane.pop(spin.stop_flag(), worker_)) {
          runner.execute(
              instance,
              {.slot = slot, .priority = worker_.priority.now(), .only_runs_instances = true},
              worker_.priority);
        }
      });
  thread_.start();
  lane.add_worker(worker_);  // last: if the thread cannot be started, nothing of it stays
}

std::size_t most_at_a_time(const std::vector<const Callback*>& callbacks, std::size_t limit) {
  std::set<const Group*> groups;
  std::size_t most = 0;
  for (const Callback* const each : callbacks) {
    const Group& group = each->group();
    if (group.type() == GroupType::kReentrant) {
      most += std::min(state_of(*each).credits.count(), limit);
    } else if (groups.insert(&group).second) {
      ++most;
    }
    if (most >= limit) {
      return limit;
    }
  }
  return most;
}

}  // namespace rclrt::executor
