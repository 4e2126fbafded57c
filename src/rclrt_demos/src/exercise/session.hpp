// SPDX-License-Identifier: Apache-2.0
// The common part of every exercise: its options, its duration, its records.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exercise/options.hpp"
#include "exercise/results.hpp"
#include "exercise/track.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/stop_flag.hpp"

namespace rclrt::demos {

/// One run of an exercise. Used by the main thread, at set-up and at the end.
class Session {
 public:
  /// Begins a run that `stop` may end early.
  Session(const Exercise& exercise, Options options, const realtime::StopFlag& stop);

  bool solution() const noexcept { return options_.solution; }
  const Options& options() const noexcept { return options_; }

  /// Returns the CPU on which all threads of the exercise run. Most flaws show only if threads
  /// compete for one CPU. On several CPUs, the holder of a lock would run beside the thread that
  /// waits for the lock.
  int cpu() const noexcept { return cpu_; }

  /// Returns whether SCHED_FIFO is permitted.
  bool realtime() const noexcept { return results_.no_realtime.empty(); }

  /// Returns the scheduling for a real-time thread on the exercise's CPU: SCHED_FIFO at `priority`,
  /// or normal scheduling if SCHED_FIFO is not permitted.
  realtime::Scheduling fifo(int priority) const;

  /// Returns normal scheduling on the exercise's CPU.
  realtime::Scheduling normal() const { return {realtime::Policy::kOther, 0, {cpu_}}; }

  /// Adds a line of the trace; the reference stays valid.
  Track& add_track(std::string name) { return results_.tracks.emplace_back(std::move(name)); }

  /// Returns the largest number of spans if there is one per `period`, with room to spare.
  std::size_t samples(std::chrono::nanoseconds period) const;

  /// Sleeps until the time is over or the user has stopped it.
  void wait();

  /// Adds a number to the results.
  void note(const std::string& name, std::uint64_t number) { results_.notes[name] += number; }

  /// Returns the results, for parts that have no function of their own.
  Results& results() noexcept { return results_; }

 private:
  const Options options_;
  const realtime::StopFlag& stop_;
  const int cpu_;
  Results results_;
};

/// Runs an exercise: reads its command line, calls `run`, and writes the result files. Returns the
/// exit code. `run` starts the exercise's threads, calls `Session::wait`, and ends the threads.
int run_exercise(const Exercise& exercise, int argc, const char* const* argv,
                 void (*run)(Session& session));

/// Computes: uses `amount` of CPU time of the calling thread. Preemption makes it take longer.
void compute(std::chrono::nanoseconds amount) noexcept;

}  // namespace rclrt::demos
