// SPDX-License-Identifier: Apache-2.0
// The results of a run while it goes on.
//
// The way of an instance: a worker pushes it into the log's queue, wait-free (instance_log.hpp).
// The log's thread passes it on to add(): in this process, or over a socket in a process of its
// own. The thread of this object takes it from there ten times a second, and about once a second
// counts what is certain and writes the results so far. All of these threads have normal priority,
// so the executors' hot path is the same for a run of a second and for one of a night.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rclrt/realtime/periodic_drain.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "rclrt/recorder/instance_inbox.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/run_stream.hpp"
#include "rclrt/recorder/write_schedule.hpp"

namespace rclrt::runner {

/// Collects the instances of a run in bounded memory and writes results meanwhile. If instances
/// come faster than they can be counted, or there is no memory left, they are dropped and counted.
class LiveResults {
 public:
  /// Writes results of a run that goes on; must not throw.
  using Write = std::function<void(const recorder::RunResults&)>;

  struct Options {
    recorder::StreamLimits limits;
    std::chrono::nanoseconds duration{};  ///< that the run is asked to last
    Write write;                          ///< none: nothing is written before the end
  };

  /// Makes it, with its thread. `results` has the application and the executor. `probe` and
  /// `results` must outlive this object. If more instances are expected than are kept, it streams
  /// from the start and prints so.
  LiveResults(const recorder::RunResults& results, recorder::HostProbe& probe, Options options);

  /// Begins to count: `results` now has the window, the context, the kernel priorities and the
  /// state of the probe, and does not change before finish().
  void begin();

  /// Takes instances. Thread-safe.
  void add(std::span<const recorder::LoggedInstance> instances) { inbox_.add(instances); }

  /// Ends the thread and sets everything in `results` that the instances show.
  void finish(recorder::RunResults& results);

  /// Returns how many instances were dropped here. Thread-safe.
  std::uint64_t dropped() const { return inbox_.dropped(); }

 private:
  void pass();
  void do_due();
  void take_inbox();
  bool writes_meanwhile() const;
  void write(std::int64_t now_ns);

  const recorder::RunResults& frame_;
  recorder::HostProbe& probe_;
  const Options options_;
  recorder::InstanceInbox inbox_;
  // Used by the thread, from the time at which the inbox is open until it has ended.
  recorder::RunStream stream_;
  std::vector<recorder::LoggedInstance> batch_;
  bool said_ = false;
  bool has_heap_ = false;
  bool said_no_memory_ = false;
  std::int64_t next_count_ns_ = 0;
  recorder::WriteSchedule writes_{std::chrono::seconds(1)};
  realtime::PeriodicDrain drain_;  // last: its thread uses all of the above
};

}  // namespace rclrt::runner
