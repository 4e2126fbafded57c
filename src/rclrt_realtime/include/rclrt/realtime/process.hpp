// SPDX-License-Identifier: Apache-2.0
// Process-wide preparation for real time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The steps of `prepare_process`. The defaults are all steps that cost only memory and power.
struct ProcessOptions {
  bool lock_memory = true;         ///< see `lock_memory`
  bool keep_heap = true;           ///< see `keep_heap`
  std::size_t heap_prefault = 0;   ///< the heap grows by these bytes now, and keeps them
  std::size_t stack_prefault = 0;  ///< bytes of the calling thread's stack that are touched now
  /// The longest time that a CPU may take to wake up from an idle state. 0 keeps the CPUs out of
  /// idle states that need time to wake up. std::nullopt: no limit is requested.
  std::optional<SaturatingMicroseconds> cpu_wake_up = std::chrono::microseconds(0);
  bool strict = false;  ///< throw if a step is not permitted
};

/// While it exists, keeps CPUs out of idle states that take longer to leave than a limit.
class RCLRT_REALTIME_EXPORT CpuWakeUpLimit {
 public:
  CpuWakeUpLimit() = default;

  /// Limits the wake-up time of all CPUs to `limit` while this object exists. `device` is the file
  /// of the kernel that takes the limit as 32-bit microseconds. Throws std::system_error with cause
  /// and fix.
  RCLRT_SETUP explicit CpuWakeUpLimit(SaturatingMicroseconds limit,
                                      const std::string& device = "/dev/cpu_dma_latency");
  ~CpuWakeUpLimit();
  CpuWakeUpLimit(CpuWakeUpLimit&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  CpuWakeUpLimit& operator=(CpuWakeUpLimit&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }

  bool active() const noexcept RCLRT_NONBLOCKING { return file_ >= 0; }

 private:
  int file_ = -1;  // the kernel removes the limit when it is closed
};

/// One requested step.
struct ProcessStep {
  std::string what;
  std::string problem;  ///< empty when it is done; otherwise cause and fix
};

/// The result of `prepare_process`. Keep the object as long as the process must be real-time,
/// because destroying it ends the limit of the CPUs' wake-up time. The other steps stay in effect
/// without it.
struct RCLRT_REALTIME_EXPORT PreparedProcess {
  std::vector<ProcessStep> steps;
  CpuWakeUpLimit cpu_wake_up;

  RCLRT_SETUP bool ok() const { return problems().empty(); }

  /// Returns "<step>: <cause and fix>", one line each.
  RCLRT_SETUP std::vector<std::string> problems() const;
};

/// Prepares the process for real-time threads as the options state. Call it before the threads are
/// created. If a step is not permitted, the process continues without it, and the result has the
/// reason. With `strict`, it throws std::runtime_error that names all such steps.
[[nodiscard]] RCLRT_REALTIME_EXPORT RCLRT_SETUP PreparedProcess
prepare_process(const ProcessOptions& options = {});

/// Locks the memory of the process into RAM, so that a thread has no page fault for memory it has
/// touched, and keeps the heap. If the process may lock any amount (memlock, CAP_IPC_LOCK), locks
/// all present and future memory and returns std::nullopt. Otherwise locks the present memory if it
/// fits into the limit, and nothing if it does not. Future memory is then not locked, because each
/// later mapping beyond the limit would fail (threads, allocations, the middleware). In this case
/// returns a text: what is not locked, the limit and its fix. Call it again to lock memory mapped
/// since then.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> lock_memory();

/// Keeps freed memory in the process: the heap is never trimmed, and large blocks come from the
/// heap, too, instead of from the system each time. The heap grows by at least 512 KiB, and the
/// heaps of threads begin with that size. So call this function before other libraries, such as the
/// middleware, create their threads.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void keep_heap();

/// Limits the number of the C library's heaps (arenas) to `heaps`, for all threads that get theirs
/// later. By default there are up to 8 for each CPU. Each takes 64 MiB of address space, which
/// counts as locked memory after `lock_memory`, and after `keep_heap` at least 512 KiB of memory.
/// More threads than that share heaps. The lock of a heap has no priority inheritance, so an
/// allocation of an urgent thread may then wait until a less urgent thread that was preempted in an
/// allocation runs again. Threads that share a heap also share its prefaulted memory: the heap has
/// the most of what one of them touched (`prefault_thread_heap`), not the sum. Call it before other
/// libraries create threads.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void limit_heaps(int heaps);

/// Sets the stack size of threads that do not state one, such as those of the middleware, to
/// `bytes`. The default is that of the process (`ulimit -s`, usually 8 MiB), and `lock_memory`
/// locks all of each stack. Threads that exist keep theirs. Throws std::system_error with cause and
/// fix.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void set_default_stack_size(std::size_t bytes);

/// Grows the heap by `bytes` of touched memory for the next allocations of all threads. To make
/// that possible, all threads share one arena from now on. Also does what `keep_heap` does. Returns
/// std::nullopt on success, otherwise cause and fix.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> prefault_heap(std::size_t bytes);

/// Touches the next `bytes` of the calling thread's stack, so that their first use causes no page
/// fault later. Stops before the end of the stack. Returns the number of bytes touched.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::size_t prefault_stack(std::size_t bytes);

/// Touches `bytes` of the heap from which the calling thread allocates, so that its next
/// allocations cause no page fault. With glibc each thread has a heap of its own (an arena) until
/// there are 8 per CPU; `prefault_heap` touches only the main one. The memory stays touched only if
/// `keep_heap` was called before. Returns false if there is not enough memory.
RCLRT_REALTIME_EXPORT RCLRT_SETUP bool prefault_thread_heap(std::size_t bytes) noexcept;

/// Loads the mapped code and data of the program and of its libraries into memory. Without this,
/// the first call of a function may wait for a page. Not needed once `lock_memory` has succeeded.
/// Call it again for libraries that are loaded later. Returns the number of bytes that are in
/// memory now.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::size_t prefault_libraries() noexcept;

}  // namespace rclrt::realtime
