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

  /// Sets the callbacks that later calls of `wait` check. None of them is a timer. A thread that
  /// calls `wait` calls this function between two of those calls.
  RCLRT_SETUP virtual void watch(const std::vector<Callback*>& callbacks) = 0;

  /// Sleeps until a callback i with `asked[i]` is ready, or CLOCK_MONOTONIC reaches `deadline_ns`
  /// (EventCount::kForever: no deadline), or `wake` was called. Then sets `ready[i]` for each
  /// callback, in the order of `watch`; false if `asked[i]` is false. One thread at a time calls
  /// it. May throw; `spin` then ends with that exception.
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
  /// true: the order of rclcpp's StaticSingleThreadedExecutor, which is subscriptions before timers
  /// before clients before services before waitables. For one thread only.
  bool subscriptions_first = false;
};

/// Runs callbacks as rclcpp's default executors do, without priorities and preemption. At a polling
/// point it asks which entities are ready, and forms a set of them. It then runs one instance of
/// each: timers before subscriptions before services before clients before waitables, and within a
/// type in the order that `WaitSetOptions::order` states. It looks for new work only when the set
/// is empty. A late timer runs once and later releases keep their times, as with rcl's timers,
/// whatever its overrun policy is. Levels are recorded and otherwise ignored. The threads run at
/// `top_priority` - 1.
///
/// Several threads take instances from one set under one mutex. A thread that finds no instance to
/// take waits for the next set, and holds the mutex meanwhile. An entity of which the group is busy
/// is skipped and stays in the set, and does not keep the others from running. When only such
/// entities are left, the next set is fetched without the entities of busy groups, and a thread
/// that leaves a group wakes the thread that waits.
class RCLRT_EXECUTOR_EXPORT WaitSetExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument if the number of threads is 0, or if it is
  /// more than 1 with `subscriptions_first`.
  RCLRT_SETUP WaitSetExecutor(ExecutorOptions options, std::unique_ptr<ReadinessSource> source,
                              WaitSetOptions wait_set = {});

  const WaitSetOptions& wait_set() const noexcept RCLRT_NONBLOCKING { return wait_set_; }

 private:
  const WaitSetOptions wait_set_;
};

}  // namespace rclrt::executor
