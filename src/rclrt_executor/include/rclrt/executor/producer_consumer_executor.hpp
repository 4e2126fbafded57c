// SPDX-License-Identifier: Apache-2.0
// The thesis's producer-consumer model (section 5.1.4).
#pragma once

#include <memory>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

class Lane;

/// A scheduler thread above all levels sorts ready work into one queue per level; consumer threads
/// at the level's priority run it: one per level as in the thesis, or `workers_per_level`.
/// Timers are released by the scheduler thread. No lock is held while user code runs.
class RCLRT_EXECUTOR_EXPORT ProducerConsumerExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit ProducerConsumerExecutor(ExecutorOptions options = {});
  ~ProducerConsumerExecutor() override;

 private:
  void on_added(Callback& callback) override;
  void on_removed(Callback& callback) noexcept override;
  void retime() noexcept override;
  void remove_queued(const Callback& callback, Instance*& taken) noexcept override;
  bool offers_reservations() const noexcept override { return true; }
  void settle_priorities() override;
  static void pass_on(Instance* instance) noexcept RCLRT_NONBLOCKING;
  Instance* take_on_caller(std::int64_t ready_by_ns) noexcept override;
  std::int64_t next_release_ns() noexcept override;
  void start_threads() override;
  void stop_threads() noexcept override;
  void wake_threads() noexcept RCLRT_NONBLOCKING override;

  const std::unique_ptr<Lane> inbox_;  // what the scheduler thread consumes
  const std::unique_ptr<LaneSet> queues_;
  realtime::Thread scheduler_;
};

}  // namespace rclrt::executor
