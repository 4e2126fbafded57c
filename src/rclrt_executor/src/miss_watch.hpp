// SPDX-License-Identifier: Apache-2.0
// Remembers the latest instances, and explains late ones with them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "blame_pool.hpp"
#include "instance_history.hpp"
#include "rclrt/executor/deadline_miss.hpp"

namespace rclrt::executor {

/// Finds out why deadlines were missed, and reports it. Each executor with a MissHandler has one.
/// It records nothing until a callback with a deadline is added.
class MissWatch {
 public:
  /// `budgets`: the number of the executor's workers with a budget.
  RCLRT_SETUP MissWatch(MissHandler& handler, std::size_t remembered, std::size_t budgets);

  /// Sets the number of instances that can run at the same time.
  RCLRT_SETUP void set_cpus(std::size_t cpus) { cpus_.store(cpus); }
  /// Returns a copy of the name that lives as long as this object.
  RCLRT_SETUP const std::string& keep(const std::string& name) {
    return *names_.insert(name).first;
  }
  /// Starts recording: a callback with a deadline was added.
  RCLRT_SETUP void start() { active_.store(true); }
  bool active() const noexcept RCLRT_NONBLOCKING {
    return active_.load(std::memory_order_relaxed);  // nothing else is published by it
  }

  InstanceHistory& history() noexcept RCLRT_NONBLOCKING { return history_; }

  /// Fills in the blame of `miss` and calls the handler. `self` is the recorded interval of the
  /// late instance. `has_budget`: the calling worker runs under SCHED_DEADLINE.
  void report(DeadlineMiss& miss, const ExecutionInterval& self,
              bool has_budget) noexcept RCLRT_WAITS;

 private:
  MissHandler& handler_;
  InstanceHistory history_;
  std::atomic<bool> active_{false};
  std::atomic<std::size_t> cpus_{1};
  std::set<std::string> names_;  // guarded by the executor's configuration; only grows
  BlamePool pool_;
};

}  // namespace rclrt::executor
