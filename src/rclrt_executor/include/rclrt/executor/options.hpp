// SPDX-License-Identifier: Apache-2.0
// What all executors can be told.
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

/// Whether a more urgent callback interrupts one that runs. `wait_set` never lets it.
enum class Preemption {
  /// With real time it does, by SCHED_FIFO. Without, as `kNever`: the kernel knows no priorities
  /// then, and would share the CPU among all levels.
  kByRealtime,
  /// Callbacks run to completion, `ExecutorOptions::workers_per_level` at a time, by default one
  /// per CPU; then the most urgent one that is ready, under `edf` the one with the earliest
  /// deadline. All workers have one SCHED_FIFO priority, or normal scheduling.
  kNever,
  /// Each level has threads of its own also without real time.
  kAlways,
};

/// What holds for every executor.
struct ExecutorOptions {
  std::string name = "executor";  ///< prefix of its threads' names
  std::vector<int> cpus{};        ///< where its threads run; empty: every allowed CPU
  /// Where the scheduler thread of `producer_consumer` and `thread_dispatch` runs; empty: as
  /// `cpus`. The others have none.
  std::vector<int> scheduler_cpus{};
  Realtime realtime = Realtime::kTry;
  Preemption preemption = Preemption::kByRealtime;
  /// SCHED_FIFO priority of a scheduler thread. N levels take the N priorities below it. The
  /// default leaves 96 to 99 to the kernel's own threads and to probes.
  int top_priority = 95;
  /// Worker threads of each level; 0: the executor's own default (the number of its CPUs for
  /// `preemptive`, 1 for `producer_consumer`). Where nothing preempts: of all levels together, in
  /// all executors but `edf`, which has one; 0: the number of its CPUs. A callback that waits for
  /// another one needs two where the number is stated: then there are no spare ones.
  std::size_t workers_per_level = 0;
  /// Spare threads of each level (`per_group`: of each reentrant group), at most, for callbacks
  /// that wait for others: a spare runs the next instance in place of a worker that has slept in
  /// its callback for two milliseconds. As many as the level's groups let start at a time; 0: none.
  /// Not with `workers_per_level`, Preemption::kNever or a reservation. Offered by `preemptive`,
  /// `producer_consumer` and `per_group`, and without real time by all that share workers.
  std::size_t spare_workers = 8;
  /// Levels that run under SCHED_DEADLINE, each on one thread with this budget: above all
  /// SCHED_FIFO threads while it lasts, and not at all from then to the next period. They take no
  /// SCHED_FIFO priority. Offered by `preemptive` and `producer_consumer`, with `cpus` empty and
  /// not with Preemption::kNever; a group has all its members in one reserved level, or none in
  /// any.
  std::map<int, realtime::Reservation> reservations{};
  /// Levels below this one are best effort: their threads have normal scheduling, so that work that
  /// may wait takes no CPU from other threads of normal priority. They take no SCHED_FIFO priority;
  /// in a mutually exclusive group with others their callbacks run at its ceiling as everywhere.
  /// Such a level has two workers at least, unless `workers_per_level` states another number; under
  /// `per_group`, which has no levels, each group has its one thread.
  /// Offered by `preemptive`, `producer_consumer` and `per_group`, not with Preemption::kNever.
  /// None: every level is real time.
  std::optional<int> best_effort_below{};
  /// Bytes of each thread's stack; 0: the process's default (`ulimit -s`).
  std::size_t stack_size = std::size_t{1} << 20;
  /// Bytes of stack and of heap that each thread touches before it takes work, with real time, so
  /// that the first instances wait for no page. `prepare` then also touches as much of the caller's
  /// heap, brings code and data of the loaded libraries into memory, and makes the process keep its
  /// heap (`realtime::keep_heap`, `realtime::prefault_libraries`). Add what the messages of the
  /// callbacks take in histories and storage; 0 leaves memory alone.
  std::size_t prefault = std::size_t{256} << 10;
  /// Returns the time from which timers count (first release = epoch + offset), CLOCK_MONOTONIC;
  /// none: the start of the first `spin`. Called once, by the first spin, on the calling thread and
  /// with nothing locked. `spin` calls it when its threads exist, and none takes work before it has
  /// returned: it may wait until other executors are as far, and return the same time for all.
  std::function<std::int64_t()> epoch{};
  InstanceSink* sink = nullptr;    ///< receives every finished instance; must outlive the executor
  MissHandler* on_miss = nullptr;  ///< told of deadlines missed; must outlive the executor
  /// Told of instances that wait for threads which wait themselves, in place of stderr; must
  /// outlive the executor.
  StallHandler* on_stall = nullptr;
  /// How often the thread in `spin` looks for such; one of ten periods is told. 0: never.
  std::chrono::milliseconds stall_period{100};
  /// How many of the latest instances the blame for a miss is found among; 300 bytes each.
  std::size_t miss_history = 256;
};

}  // namespace rclrt::executor
