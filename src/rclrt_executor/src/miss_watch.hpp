// SPDX-License-Identifier: Apache-2.0
// Knows who ran lately, and explains late instances with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "instance_history.hpp"
#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt::executor {

/// One per executor that has a MissHandler. Costs nothing until a callback with a deadline comes.
class MissWatch {
 public:
  RCLRT_SETUP MissWatch(MissHandler& handler, std::size_t remembered);

  /// How many instances can run at the same time.
  RCLRT_SETUP void set_cpus(std::size_t cpus) { cpus_.store(cpus); }
  /// A name that stays.
  RCLRT_SETUP const std::string& keep(const std::string& name) {
    return *names_.insert(name).first;
  }
  /// A callback with a deadline has come.
  RCLRT_SETUP void start() { active_.store(true); }
  bool active() const noexcept RCLRT_NONBLOCKING {
    return active_.load(std::memory_order_relaxed);  // nothing else is published by it
  }

  InstanceHistory& history() noexcept RCLRT_NONBLOCKING { return history_; }

  /// Fills in the blame and calls the handler. `self` is the instance, as in the history.
  void report(DeadlineMiss& miss, const Stretch& self) noexcept RCLRT_WAITS;

 private:
  MissHandler& handler_;
  InstanceHistory history_;
  std::atomic<bool> active_{false};
  std::atomic<std::size_t> cpus_{1};
  std::set<std::string> names_;  // guarded by the executor's configuration; only grows

  realtime::PiMutex mutex_;  // guards what follows, for a copy of the history and a sort of it
  std::vector<Stretch> stretches_;
  std::vector<BlameScratch::Event> events_;
  std::vector<std::uint32_t> running_;
  std::vector<BlameScratch::Tally> tallies_;
};

}  // namespace rclrt::executor
