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
  /// With real-time scheduling, more urgent callbacks preempt others, by SCHED_FIFO. Without
  /// real-time scheduling as `kNever`, because the kernel then knows no priorities and would share
  /// the CPU among all levels.
  kByRealtime,
  /// Callbacks run to completion. `ExecutorOptions::workers_per_level` callbacks run at a time; by
  /// default one for each CPU. A free worker takes the most urgent ready callback; under `edf`, the
  /// one with the earliest deadline. All workers have one SCHED_FIFO priority, or normal
  /// scheduling.
  kNever,
  /// Each level has threads of its own also without real time.
  kAlways,
};

/// The options of every executor.
struct ExecutorOptions {
  std::string name = "executor";  ///< prefix of its threads' names
  std::vector<int> cpus{};        ///< where its threads run; empty: every allowed CPU
  /// The CPUs of the scheduler thread of `producer_consumer` and `thread_dispatch`; empty: the same
  /// as `cpus`. Other executors have no scheduler thread.
  std::vector<int> scheduler_cpus{};
  Realtime realtime = Realtime::kTry;
  Preemption preemption = Preemption::kByRealtime;
  /// The SCHED_FIFO priority of a scheduler thread. The N levels of the executor get the N
  /// priorities right below it. The default leaves 96 to 99 to the kernel's own threads and to
  /// probes.
  int top_priority = 95;
  /// The number of instances of each level that may run at the same time. 0: the executor's
  /// default, which is the number of its CPUs for `preemptive` and 1 for `producer_consumer`. A
  /// level has as many worker threads, or fewer if its groups do not let as many instances run at
  /// the same time. By default a level of `preemptive` has a worker for each of up to four
  /// CPUs, so that one can be woken on the CPU of the thread that releases; no more of them are
  /// woken than can have work. Without preemption it is the number of worker threads of all levels
  /// together; 0: the number of the executor's CPUs. `edf` without preemption has one worker. If
  /// the number is stated there are no spare threads, so a callback that waits for another one
  /// needs two workers.
  std::size_t workers_per_level = 0;
  /// The highest number of spare threads of each level (under `per_group`: of each reentrant
  /// group). A spare is for callbacks that wait for other callbacks: it runs the next instance in
  /// place of a worker that has slept in its callback for two milliseconds. An executor creates no
  /// more spares than instances that the groups of the level allow to run at the same time. 0:
  /// none. Cannot be combined with `workers_per_level`, Preemption::kNever or a reservation.
  /// Executors with permanent threads for each level or group offer spares; without real-time
  /// scheduling all executors that share workers do.
  std::size_t spare_workers = 8;
  /// The levels that run under SCHED_DEADLINE, with the budget of each. A reserved level has one
  /// thread. That thread runs above all SCHED_FIFO threads while its budget lasts, and then not
  /// until its next period. Reserved levels take no SCHED_FIFO priority. Offered by `preemptive`
  /// and `producer_consumer`, with `cpus` empty and not with Preemption::kNever. The members of a
  /// mutually exclusive group must all be in one reserved level, or all in levels without a
  /// reservation.
  std::map<int, realtime::Reservation> reservations{};
  /// Levels below this one are best effort: their threads have normal scheduling, so that work that
  /// may wait takes no CPU time from other threads of normal priority. These levels take no
  /// SCHED_FIFO priority. A callback of such a level that shares a mutually exclusive group with
  /// callbacks of other levels runs at the group's ceiling, as in every level. Such a level has at
  /// least two workers, unless `workers_per_level` states another number; under `per_group` each
  /// group keeps its one thread. Offered by executors with permanent threads for each level or
  /// group, not with Preemption::kNever. std::nullopt: every level is real time.
  std::optional<int> best_effort_below{};
  /// Bytes of each thread's stack; 0: the process's default (`ulimit -s`). If the process locks its
  /// memory (`realtime::lock_memory`), the whole stack of each thread is in memory. So the stacks
  /// of an executor then take `stack_size` times the number of its threads.
  std::size_t stack_size = std::size_t{1} << 20;
  /// The number of bytes of heap that each thread touches before it takes work, so that the first
  /// instances cause no page faults. It touches as many bytes of its stack, but at most 128 KiB and
  /// all but 64 KiB of the stack. Only with real-time scheduling. `prepare` then also touches as
  /// much of the caller's heap, loads code and data of the loaded libraries into memory, and makes
  /// the process keep its heap (`realtime::keep_heap`, `realtime::prefault_libraries`). Add to the
  /// number the memory of messages that callbacks keep, in histories for example. 0 disables all of
  /// this.
  std::size_t prefault = std::size_t{256} << 10;
  /// Returns the time from which timers count (first release = epoch + offset), in CLOCK_MONOTONIC
  /// nanoseconds. If the function is empty, timers count from the start of the first `spin`. The
  /// first `spin` calls it once, on its own thread and with no lock held, when the executor's
  /// threads exist. No thread takes work before the function has returned. So the function may wait
  /// until other executors have come as far, and return the same time for all of them.
  std::function<std::int64_t()> epoch{};
  InstanceSink* sink = nullptr;    ///< receives every finished instance; must outlive the executor
  MissHandler* on_miss = nullptr;  ///< receives deadline misses; must outlive the executor
  /// Receives stalls: instances that wait for threads which sleep within callbacks. nullptr: stalls
  /// are printed to stderr. The handler must outlive the executor.
  StallHandler* on_stall = nullptr;
  /// The period in which the thread in `spin` searches for stalls. A stall that lasts ten periods
  /// is reported. 0: no search.
  std::chrono::milliseconds stall_period{100};
  /// The number of latest instances that are searched for the causes of a miss; 300 bytes each.
  std::size_t miss_history = 256;
};

}  // namespace rclrt::executor
