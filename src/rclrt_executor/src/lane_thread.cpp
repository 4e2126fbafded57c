// SPDX-License-Identifier: Apache-2.0
#include "lane_thread.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "instance_runner.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "spin_state.hpp"

namespace rclrt::executor {

namespace {

/// Returns the options of a thread that begins on a CPU; `cpu` -1: on any of its CPUs.
realtime::ThreadOptions beginning_on(int cpu, realtime::ThreadOptions options) {
  if (cpu >= 0) {
    options.scheduling.cpus = {cpu};
  }
  return options;
}

/// Returns the CPUs on which a thread with these options may run; empty: all of the process. A list
/// that holds all CPUs is not stated, because a stated list does not grow with the process's.
std::vector<int> cpus_of(const realtime::ThreadOptions& options) {
  if (!options.scheduling.cpus.empty()) {
    return options.scheduling.cpus;
  }
  std::vector<int> cpus = realtime::allowed_cpus();
  if (cpus.size() >= static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN))) {
    cpus.clear();
  }
  return cpus;
}

}  // namespace

LaneThread::LaneThread(const DispatcherContext& context, Lane& lane, LaneWorker::Kind kind,
                       const realtime::ThreadOptions& options, std::uint32_t slot,
                       bool may_be_raised, int start_cpu)
    : worker_(
          kind,
          options.scheduling.policy == realtime::Policy::kFifo ? options.scheduling.priority : 0,
          may_be_raised) {
  const std::vector<int> cpus = start_cpu < 0 ? std::vector<int>{} : cpus_of(options);
  thread_ = realtime::Thread(
      realtime::kDeferStart, beginning_on(start_cpu, options),
      [this, &lane, slot, &spin = context.spin, &runner = context.runner] {
        worker_.begin();
        spin.await_start();
        while (Instance* const instance = lane.pop(spin.stop_flag(), worker_)) {
          runner.execute(
              instance,
              {.slot = slot, .priority = worker_.priority.now(), .only_runs_instances = true},
              worker_.priority);
        }
      });
  thread_.start();
  if (start_cpu >= 0) {
    // Done here and not by the thread: that one may have to wait for its CPU, and must then be free
    // to go to another one before the executor starts.
    thread_.set_cpus(cpus);
  }
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
