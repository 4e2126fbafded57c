// SPDX-License-Identifier: Apache-2.0
#include "lane_thread.hpp"

#include <algorithm>
#include <set>

#include "instance_runner.hpp"
#include "spin_state.hpp"

namespace rclrt::executor {

LaneThread::LaneThread(const DispatcherContext& context, Lane& lane, LaneWorker::Kind kind,
                       const realtime::ThreadOptions& options, std::uint32_t slot,
                       bool may_be_raised)
    : worker_(
          kind,
          options.scheduling.policy == realtime::Policy::kFifo ? options.scheduling.priority : 0,
          may_be_raised) {
  thread_ = realtime::Thread(
      realtime::kDeferStart, options,
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
