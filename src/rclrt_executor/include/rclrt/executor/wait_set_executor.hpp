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

/// Finds out which entities are ready; for ROS it is rcl_wait.
class RCLRT_EXECUTOR_EXPORT ReadinessSource {
 public:
  virtual ~ReadinessSource() = default;

  /// Sets the callbacks that later calls of `wait` check, none of them a timer. Called by a thread
  /// that calls `wait`, between two calls of it.
  RCLRT_SETUP virtual void watch(const std::vector<Callback*>& callbacks) = 0;

  /// Sleeps until a callback for which `asked` is set is ready, CLOCK_MONOTONIC reaches
  /// `deadline_ns` (EventCount::kForever: no deadline) or `wake` was called. Then sets `ready[i]`
  /// for each callback in the order of `watch`; false if `asked` is not set. One call at a time.
  /// May throw: `spin` then ends with that exception.
  virtual void wait(std::int64_t deadline_ns, const std::vector<bool>& asked,
                    std::vector<bool>& ready) RCLRT_WAITS = 0;

  /// Lets the current or the next `wait` return. Thread-safe.
  virtual void wake() noexcept RCLRT_WAITS = 0;
};

/// The order in which callbacks of one type are checked.
enum class WaitSetOrder {
  kRegistration,  ///< as they were added: rclcpp up to Foxy, and the thesis
  kArbitrary,     ///< given by `seed`, the same at each polling point: rclcpp since Jazzy iterates
                  ///< hash maps of addresses
};

/// Selects the executor of rclcpp that it behaves like.
struct WaitSetOptions {
  std::size_t threads = 1;  ///< 1: SingleThreadedExecutor; more: MultiThreadedExecutor
  WaitSetOrder order = WaitSetOrder::kRegistration;
  std::uint64_t seed = 0;  ///< for kArbitrary
  /// As StaticSingleThreadedExecutor: subscriptions before timers before clients before services
  /// before waitables. One thread only.
  bool subscriptions_first = false;
};

/// No priorities, no preemption: at a polling point it asks which entities are ready, then runs one
/// instance of each, timers before subscriptions before services before clients before waitables,
/// in the stated order within a type, and checks for no new work until the set is empty. A late
/// timer runs once and stays on its grid, as rcl's timers do, whatever its overrun policy. Levels
/// are recorded and ignored; the threads run at `top_priority` - 1, where a single level of the
/// other executors would be.
///
/// Several threads draw from one set under one mutex. A thread that finds nothing to take waits for
/// the next set, holding the mutex. If the group of an entity is busy, the entity is skipped and
/// stays in the set. It does not keep the others from running: when only such entities are left,
/// the next set is fetched without the busy groups, and a thread that leaves a group wakes the
/// thread that waits.
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
