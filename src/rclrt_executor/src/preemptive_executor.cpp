// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/preemptive_executor.hpp"

#include <utility>

#include "lane_set.hpp"

namespace rclrt::executor {

PreemptiveExecutor::PreemptiveExecutor(ExecutorOptions options)
    : Executor(std::move(options)), lanes_(std::make_unique<LaneSet>(*this)) {}

PreemptiveExecutor::~PreemptiveExecutor() { shut_down(); }

void PreemptiveExecutor::on_added(Callback& callback) {
  Lane& lane = lanes_->at(callback.level());
  set_sinks(callback, &lane, &lane);
  if (TimerCallback* const timer = as_timer(callback)) {
    lane.add_timer(timer);
  }
}

void PreemptiveExecutor::on_removed(Callback& callback) noexcept {
  if (TimerCallback* const timer = as_timer(callback)) {
    lanes_->remove_timer(timer);
  }
}

void PreemptiveExecutor::retime() noexcept { lanes_->retime(); }

void PreemptiveExecutor::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  lanes_->remove_queued(callback, taken);
}

Instance* PreemptiveExecutor::take_on_caller(std::int64_t ready_by_ns) noexcept {
  return lanes_->try_pop(ready_by_ns);
}

std::int64_t PreemptiveExecutor::next_release_ns() noexcept { return lanes_->next_release_ns(); }

void PreemptiveExecutor::settle_priorities() { lanes_->settle_priorities(); }

void PreemptiveExecutor::start_threads() {
  lanes_->start(options().workers_per_level != 0 ? options().workers_per_level : cpu_count());
}

void PreemptiveExecutor::stop_threads() noexcept { lanes_->stop(configuration()); }

void PreemptiveExecutor::wake_threads() noexcept RCLRT_NONBLOCKING { lanes_->wake_all(); }

}  // namespace rclrt::executor
