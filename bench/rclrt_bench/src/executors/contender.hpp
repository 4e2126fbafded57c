// SPDX-License-Identifier: Apache-2.0
// The executors that are compared.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "rclrt/context.hpp"
#include "rclrt/executors.hpp"
#include "rclrt/node.hpp"

namespace rclrt::bench {

/// An executor to be measured, by its name: one of rclrt's executors, or one of two others.
/// "wait_set_threads" is `wait_set` with as many threads as CPUs, like rclcpp's
/// MultiThreadedExecutor. "split" is what users do by hand today: two `wait_set` executors, one at
/// SCHED_FIFO 80 for callbacks with a priority above 0, and one at 70 for all others.
class Contender {
 public:
  /// Returns the names of all executors, "wait_set_threads" and "split".
  static std::vector<std::string> names();

  /// Returns whether the executor `name` is measured with this number of CPUs and of entities.
  /// Executors that order by deadline are measured on one CPU only, and "wait_set_threads" on
  /// several only. An executor with a thread for each group is measured with at most 1000 entities,
  /// because ten thousand threads take a minute to start and end.
  static bool runs_with(const std::string& name, std::size_t cpus, int entities);

  /// Throws std::invalid_argument for an unknown name.
  Contender(const std::string& name, const std::shared_ptr<Context>& context,
            const std::vector<int>& cpus);

  void add_node(const Node& node);
  void prepare();
  /// Spins until `cancel`, or until a callback throws; rethrows then.
  void spin();
  /// Ends `spin`. Thread-safe.
  void cancel() noexcept;

 private:
  std::unique_ptr<Executor> urgent_;
  std::unique_ptr<Executor> other_;  // "split" only
};

}  // namespace rclrt::bench
