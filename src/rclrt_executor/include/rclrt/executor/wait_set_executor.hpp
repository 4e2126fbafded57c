// SPDX-License-Identifier: Apache-2.0
// The baseline: the scheduling of rclcpp's SingleThreadedExecutor.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "rclrt/executor/executor.hpp"

namespace rclrt::executor {

/// Tells which entities are ready; for ROS it is rcl_wait.
class ReadinessSource {
 public:
  virtual ~ReadinessSource() = default;

  /// The callbacks it will be asked about from now on, none of them a timer. Called by the thread
  /// that calls `wait`, between two calls of it.
  RCLRT_SETUP virtual void watch(const std::vector<Callback*>& callbacks) = 0;

  /// Sleeps until one of them is ready, CLOCK_MONOTONIC reaches `deadline_ns`
  /// (EventCount::kForever: no deadline) or `wake` was called, then sets `ready[i]` for each
  /// callback in the order of `watch`. May throw: `spin` then ends with that exception.
  virtual void wait(std::int64_t deadline_ns, std::vector<bool>& ready) RCLRT_WAITS = 0;

  /// Lets the current or the next `wait` return. Thread-safe.
  virtual void wake() noexcept RCLRT_WAITS = 0;
};

/// One thread, no priorities, no preemption: at a polling point it asks which entities are ready,
/// then runs one instance of each, timers before subscriptions before services before clients
/// before waitables, in order of registration within a type, and looks for nothing new until the
/// set is empty. A late timer runs once and stays on its grid, as rcl's timers do, whatever its
/// overrun policy. Levels are recorded and ignored; the thread runs at `top_priority` - 1, where a
/// single level of the other executors would be.
class WaitSetExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source);
  ~WaitSetExecutor() override;

 private:
  void take_in(Callback& callback) override;
  void let_out(Callback& callback) noexcept override;
  void take_out(const Callback& /*callback*/, Instance*& /*taken*/) noexcept override {}
  bool has_forgotten(const Callback& callback) const noexcept override;
  int priority_of(int level) const noexcept override;
  void start_threads() override;
  void stop_threads() noexcept override;
  void wake_threads() noexcept RCLRT_NONBLOCKING override;
  bool listens() const noexcept override { return false; }

  void look_again() noexcept;
  void reload();
  void loop();
  std::int64_t next_timer_ns() const noexcept;

  const std::unique_ptr<ReadinessSource> source_;
  std::atomic<bool> changed_{true};  // seq_cst; set before the source is woken
  // The loop thread's own view, as of the last polling point.
  std::vector<TimerCallback*> timers_;              // in order of registration
  std::vector<Callback*> others_;                   // by type, then in order of registration
  std::vector<std::shared_ptr<Callback>> watched_;  // the same; guarded by the configuration
  realtime::Thread thread_;
};

}  // namespace rclrt::executor
