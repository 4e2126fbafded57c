// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/preemptive_executor.hpp"

#include <algorithm>
#include <utility>

#include "lane.hpp"

namespace rclrt::executor {

PreemptiveExecutor::PreemptiveExecutor(ExecutorOptions options) : Executor(std::move(options)) {}

PreemptiveExecutor::~PreemptiveExecutor() { shut_down(); }

void PreemptiveExecutor::do_prepare() {
  for (const int level : priorities().levels()) {
    lanes_.push_back(std::make_unique<Lane>(Lane::Use::kRun, timers([&](const Callback& callback) {
                                              return callback.level() == level;
                                            })));
  }
  for (const auto& callback : callbacks()) {
    Lane* const lane = lanes_[priorities().index(callback->level())].get();
    set_sinks(*callback, lane, lane);
  }
}

void PreemptiveExecutor::start_threads() {
  const std::size_t workers =
      options().workers_per_level != 0 ? options().workers_per_level : cpu_count();
  workers_.reserve(lanes_.size() * workers);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const int level = priorities().levels()[i];
    const int own = os_priority(level);
    for (std::uint32_t slot = 0; slot < workers; ++slot) {
      workers_.emplace_back(thread_options("L" + std::to_string(level), own),
                            [this, lane = lanes_[i].get(), slot, own] {
                              await_start();
                              WorkerPriority priority(own);
                              while (Instance* const instance = lane->pop(stop_flag(), priority)) {
                                execute(instance, slot, priority);
                              }
                            });
    }
  }
}

void PreemptiveExecutor::stop_threads() noexcept { workers_.clear(); }

void PreemptiveExecutor::wake_threads() noexcept RCLRT_NONBLOCKING {
  for (const auto& lane : lanes_) {
    lane->wake_all();
  }
}

}  // namespace rclrt::executor
