// SPDX-License-Identifier: Apache-2.0
// The baseline: the scheduling of rclcpp's Single- and MultiThreadedExecutor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Tells which entities are ready; for ROS it is rcl_wait.
class RCLRT_EXECUTOR_EXPORT ReadinessSource {
 public:
  virtual ~ReadinessSource() = default;

  /// Sets the callbacks it will be asked about from now on, none of them a timer. Called by a
  /// thread that calls `wait`, between two calls of it.
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
  /// As StaticSingleThreadedExecutor: subscriptions before timers before clients before services
  /// before waitables. One thread only.
  bool subscriptions_first = false;
};

/// No priorities, no preemption: at a polling point it asks which entities are ready, then runs one
/// instance of each, timers before subscriptions before services before clients before waitables,
/// in the stated order within a type, and looks for nothing new until the set is empty. A late
/// timer runs once and stays on its grid, as rcl's timers do, whatever its overrun policy. Levels
/// are recorded and ignored; the threads run at `top_priority` - 1, where a single level of the
/// other executors would be.
///
/// Several threads draw from one set under one mutex. A thread that finds nothing to take waits for
/// the next set, holding the mutex. An entity whose group is busy is skipped and stays; it does not
/// keep the others from running: when nothing else is left, the next set is fetched without the
/// busy groups, and a thread that leaves a group wakes the one that waits.
class RCLRT_EXECUTOR_EXPORT WaitSetExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for no threads, and for several with
  /// `subscriptions_first`.
  RCLRT_SETUP WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source,
                              WaitSetOptions wait_set = {});

  const WaitSetOptions& wait_set() const noexcept RCLRT_NONBLOCKING { return wait_set_; }

 private:
  const WaitSetOptions wait_set_;
};

}  // namespace rclrt::executor
