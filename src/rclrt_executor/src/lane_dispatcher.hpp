// SPDX-License-Identifier: Apache-2.0
// The dispatcher of executors without a scheduler thread.
#pragma once

#include <cstdint>
#include <string>

#include "dispatcher.hpp"
#include "lane_set.hpp"
#include "thread_settings.hpp"

namespace rclrt::executor {

/// A lane for each level; entities release directly into it.
class LaneDispatcher final : public Dispatcher {
 public:
  explicit LaneDispatcher(const DispatcherContext& context)
      : Dispatcher(context, {.keeps_level_threads = true}),
        lanes_(context, *this, LaneSet::Sleepers::kOnEachCpu) {}

  void add(Callback& callback) override {
    Lane& lane = lanes_.at(callback);
    state_of(callback).sink.store(&lane);
    state_of(callback).lane.store(&lane);
    if (TimerCallback* const timer = as_timer(callback)) {
      lane.add_timer(timer);
    }
  }

  void remove(Callback& callback) noexcept override { lanes_.remove(callback); }

  void remove_queued(const Callback& callback, Instance*& taken) noexcept override {
    lanes_.remove_queued(callback, taken);
  }

  void apply_priorities() override { lanes_.apply_priorities(); }

  WorkerPool pool_of(const Callback& callback) const override { return lanes_.pool_of(callback); }
  std::string stall_advice() const override { return lanes_.stall_advice(); }

  void start() override {
    lanes_.start(context().threads.worker_count(context().threads.cpu_count()));
  }
  void stop() noexcept override { lanes_.stop(); }
  void wake() noexcept RCLRT_NONBLOCKING override { lanes_.wake_all(); }

  Instance* take_on_caller(std::int64_t ready_by_ns,
                           std::int64_t& next_release_ns) noexcept override {
    Instance* const instance = lanes_.try_pop(ready_by_ns);
    next_release_ns = lanes_.next_release_ns();
    return instance;
  }

 private:
  LaneSet lanes_;
};

}  // namespace rclrt::executor
