// SPDX-License-Identifier: Apache-2.0
// The baseline: the scheduling of rclcpp's Single- and MultiThreadedExecutor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt::executor {

/// Tells which entities are ready; for ROS it is rcl_wait.
class RCLRT_EXECUTOR_EXPORT ReadinessSource {
 public:
  virtual ~ReadinessSource() = default;

  /// The callbacks it will be asked about from now on, none of them a timer. Called by a thread
  /// that calls `wait`, between two calls of it.
  RCLRT_SETUP virtual void watch(const std::vector<Callback*>& callbacks) = 0;

  /// Sleeps until one of those is ready for which `asked` is set, CLOCK_MONOTONIC reaches
  /// `deadline_ns` (EventCount::kForever: no deadline) or `wake` was called, then sets `ready[i]`
  /// for each callback in the order of `watch`; false for those not asked. One call at a time. May
  /// throw: `spin` then ends with that exception.
  virtual void wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
                    std::vector<bool>& ready) RCLRT_WAITS = 0;

  /// Lets the current or the next `wait` return. Thread-safe.
  virtual void wake() noexcept RCLRT_WAITS = 0;
};

/// In which order callbacks of one type are looked at.
enum class WaitSetOrder {
  kRegistration,  ///< as they were added: rclcpp up to Foxy, and the thesis
  kArbitrary,     ///< as `seed` says, the same at each polling point: rclcpp since Jazzy iterates
                  ///< hash maps of addresses
};

/// Which of rclcpp's executors it is like.
struct WaitSetOptions {
  std::size_t threads = 1;  ///< 1: SingleThreadedExecutor; more: MultiThreadedExecutor
  WaitSetOrder order = WaitSetOrder::kRegistration;
  std::uint64_t seed = 0;  ///< of kArbitrary
};

/// No priorities, no preemption: at a polling point it asks which entities are ready, then runs one
/// instance of each, timers before subscriptions before services before clients before waitables,
/// in the stated order within a type, and looks for nothing new until the set is empty. A late
/// timer runs once and stays on its grid, as rcl's timers do, whatever its overrun policy. Levels
/// are recorded and ignored; the threads run at `top_priority` - 1, where a single level of the
/// other executors would be.
///
/// Several threads draw from one set under one mutex. Who finds nothing to take waits for the next
/// set, holding it. An entity whose group is busy is skipped and stays; the others are not kept
/// from running by it: when nothing else is left, the next set is fetched without the busy groups,
/// and who leaves a group wakes who waits.
class RCLRT_EXECUTOR_EXPORT WaitSetExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for no threads.
  RCLRT_SETUP WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source,
                              WaitSetOptions wait_set = {});
  ~WaitSetExecutor() override;

  const WaitSetOptions& wait_set() const noexcept RCLRT_NONBLOCKING { return wait_set_; }

 private:
  struct Work {
    Callback* callback = nullptr;  // held, and inside its group
    std::int64_t release_ns = 0;
    std::int64_t ready_ns = 0;
  };

  void on_added(Callback& callback) override;
  void on_removed(Callback& callback) noexcept override;
  void remove_queued(const Callback& /*callback*/, Instance*& /*taken*/) noexcept override {}
  bool has_forgotten(const Callback& callback) const noexcept override;
  int priority_of(int level) const noexcept override;
  void start_threads() override;
  void stop_threads() noexcept override;
  void wake_threads() noexcept RCLRT_NONBLOCKING override;
  bool listens() const noexcept override { return false; }
  std::size_t concurrency() const override;

  void look_again() noexcept;
  void run(std::uint32_t slot);
  // With draw_ held:
  bool take_next(Work& work);
  bool take_ready(Work& work);
  bool is_empty() const;
  void await_group();
  void poll();
  void reload();

  const std::unique_ptr<ReadinessSource> source_;
  const WaitSetOptions wait_set_;
  std::atomic<bool> changed_{true};                 // seq_cst; set before the source is woken
  std::vector<std::shared_ptr<Callback>> watched_;  // as of reload; guarded by the configuration
  std::vector<realtime::Thread> threads_;

  realtime::PiMutex draw_;  // guards what follows: the view as of the last polling point
  std::vector<TimerCallback*> timers_;  // in the stated order
  std::vector<Callback*> others_;       // by type, then in that order
  std::vector<bool> due_;               // the set: of timers_
  std::vector<bool> ready_;             // and of others_
  std::vector<bool> asked_;
  std::int64_t polled_ns_ = 0;
  bool polled_ = false;  // in this spin
};

}  // namespace rclrt::executor
