// SPDX-License-Identifier: Apache-2.0
// The options of all executors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/executor/stall.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::executor {

/// Whether threads run under SCHED_FIFO.
enum class Realtime {
  kOff,      ///< normal scheduling
  kTry,      ///< SCHED_FIFO where permitted; otherwise normal scheduling and a notice
  kRequire,  ///< SCHED_FIFO, or `prepare` throws an error that names the fix
};

/// Whether a more urgent callback preempts a running one. Under `wait_set` it never does.
enum class Preemption {
  /// With real time it does, by SCHED_FIFO. Without real time as `kNever`, because the kernel then
  /// knows no priorities and would share the CPU among all levels.
  kByRealtime,
  /// Callbacks run to completion, `ExecutorOptions::workers_per_level` at a time, by default one
  /// per CPU. A free worker takes the most urgent ready one; under `edf`, the one with the earliest
  /// deadline. All workers have one SCHED_FIFO priority, or normal scheduling.
  kNever,
  /// Each level has threads of its own also without real time.
  kAlways,
};

/// The options of every executor.
struct ExecutorOptions {
  std::string name = "executor";  ///< prefix of its threads' names
  std::vector<int> cpus{};        ///< where its threads run; empty: every allowed CPU
  /// Where the scheduler thread of `producer_consumer` and `thread_dispatch` runs; empty: as
  /// `cpus`. Other executors have no scheduler thread.
  std::vector<int> scheduler_cpus{};
  Realtime realtime = Realtime::kTry;
  Preemption preemption = Preemption::kByRealtime;
  /// The SCHED_FIFO priority of a scheduler thread. N levels take the N priorities below it. The
  /// default leaves 96 to 99 to the kernel's own threads and to probes.
  int top_priority = 95;
  /// Worker threads of each level; 0: the executor's own default (the number of its CPUs for
  /// `preemptive`, 1 for `producer_consumer`). Without preemption: the worker threads of all levels
  /// together; 0: the number of the executor's CPUs. `edf` without preemption has one. If the
  /// number is stated there are no spare threads, so a callback that waits for another one needs
  /// two workers.
  std::size_t workers_per_level = 0;
  /// Spare threads of each level, or of each reentrant group that has a thread of its own, at most,
  /// for callbacks that wait for others: a spare runs the next instance in place of a worker that
  /// has slept in its callback for two milliseconds. The number is what the level's groups let
  /// start at a time; 0: none. Cannot be combined with `workers_per_level`, Preemption::kNever or a
  /// reservation. Offered by executors with permanent threads for each level or group, and without
  /// real time by all executors that share workers.
  std::size_t spare_workers = 8;
  /// Levels that run under SCHED_DEADLINE, each on one thread with this budget: above all
  /// SCHED_FIFO threads while the budget lasts, and not at all from then to the next period. They
  /// take no SCHED_FIFO priority. Offered by `preemptive` and `producer_consumer`, with `cpus`
  /// empty and not with Preemption::kNever. All members of a group are in one reserved level, or
  /// none is in a reserved level.
  std::map<int, realtime::Reservation> reservations{};
  /// Levels below this one are best effort: their threads have normal scheduling, so that work that
  /// may wait takes no CPU from other threads of normal priority. They take no SCHED_FIFO priority.
  /// In a mutually exclusive group with callbacks of other levels, their callbacks run at the
  /// group's ceiling, as in every level. Such a level has at least two workers, unless
  /// `workers_per_level` states another number; where each group has a thread, it keeps that one.
  /// Offered by executors with permanent threads for each level or group, not with
  /// Preemption::kNever. std::nullopt: every level is real time.
  std::optional<int> best_effort_below{};
  /// Bytes of each thread's stack; 0: the process's default (`ulimit -s`).
  std::size_t stack_size = std::size_t{1} << 20;
  /// Bytes of stack and of heap that each thread touches before it takes work, with real time, so
  /// that the first instances cause no page faults. `prepare` then also touches as much of the
  /// caller's heap, loads code and data of the loaded libraries into memory, and makes the process
  /// keep its heap (`realtime::keep_heap`, `realtime::prefault_libraries`). Add the memory that the
  /// messages of the callbacks take in histories and storage. 0 disables all of this.
  std::size_t prefault = std::size_t{256} << 10;
  /// Returns the time from which timers count (first release = epoch + offset), CLOCK_MONOTONIC;
  /// none: the start of the first `spin`. Called once, by the first spin, on the calling thread and
  /// with no lock held. `spin` calls it when its threads exist, and no thread takes work before it
  /// has returned. So it may wait until other executors have come as far, and return the same time
  /// for all.
  std::function<std::int64_t()> epoch{};
  InstanceSink* sink = nullptr;    ///< receives every finished instance; must outlive the executor
  MissHandler* on_miss = nullptr;  ///< receives deadline misses; must outlive the executor
  /// Receives stalls: instances that wait for threads which wait themselves. nullptr: stderr. Must
  /// outlive the executor.
  StallHandler* on_stall = nullptr;
  /// The period in which the thread in `spin` searches for stalls. A stall that lasts ten periods
  /// is reported. 0: no search.
  std::chrono::milliseconds stall_period{100};
  /// The number of latest instances that are searched for the causes of a miss; 300 bytes each.
  std::size_t miss_history = 256;
};

}  // namespace rclrt::executor
