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

/// What `prepare_process` does. As it stands: everything that costs nothing but memory and power.
struct ProcessOptions {
  bool lock_memory = true;         ///< see `lock_memory`
  bool keep_heap = true;           ///< see `keep_heap`
  std::size_t heap_prefault = 0;   ///< bytes the heap grows by now, and keeps
  std::size_t stack_prefault = 0;  ///< bytes of the calling thread's stack that are touched now
  /// How long a CPU may take to wake up from idle: zero keeps it awake. Nothing: not asked for.
  std::optional<SaturatingMicroseconds> cpu_wake_up = std::chrono::microseconds(0);
  bool strict = false;  ///< throw when something is not permitted
};

/// Keeps CPUs out of idle states that take longer to leave than a limit, as long as it exists.
class RCLRT_REALTIME_EXPORT CpuWakeUpLimit {
 public:
  CpuWakeUpLimit() = default;

  /// Throws std::system_error with cause and fix. The device is one that takes 32-bit microseconds.
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
  int file_ = -1;  // the kernel forgets the limit when it is closed
};

/// One thing that was asked for.
struct ProcessStep {
  std::string what;
  std::string problem;  ///< empty when it is done; otherwise cause and fix
};

/// What `prepare_process` came to. Keep it while the process is to be real-time: it holds the limit
/// of the CPUs' wake-up time. What else was done stays done.
struct RCLRT_REALTIME_EXPORT PreparedProcess {
  std::vector<ProcessStep> steps;
  CpuWakeUpLimit cpu_wake_up;

  RCLRT_SETUP bool ok() const { return problems().empty(); }

  /// Returns "<step>: <cause and fix>", one line each.
  RCLRT_SETUP std::vector<std::string> problems() const;
};

/// Prepares the process as the options say, before the threads are made. What is not permitted is
/// told in the result and the process goes on without; with `strict`, std::runtime_error names all
/// of it.
[[nodiscard]] RCLRT_REALTIME_EXPORT RCLRT_SETUP PreparedProcess
prepare_process(const ProcessOptions& options = {});

/// Locks the memory of the process into RAM, so that a thread meets no page fault for memory it has
/// touched, and keeps the heap. Where the amount is not limited (memlock, CAP_IPC_LOCK): all
/// present and future memory; returns nothing then. Under a limit future memory is never locked,
/// for each later mapping beyond the limit would fail (threads, allocations, the middleware): what
/// is mapped now is locked if the limit holds it, otherwise nothing is. Returns then what is not
/// locked, the limit and its fix. Call it again to lock what has been mapped since.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> lock_memory();

/// Keeps freed memory with the process: the heap is never trimmed, and large blocks come from it
/// too instead of from the system each time. It grows by 512 KiB at least, and so large do the
/// heaps of threads begin: call it before threads of others, such as the middleware's, are created.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void keep_heap();

/// Grows the heap by `bytes` of touched memory that the next allocations of all threads are served
/// from. For that all threads share one arena from now on. Implies `keep_heap`. Returns nothing on
/// success, otherwise cause and fix.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> prefault_heap(std::size_t bytes);

/// Touches the next `bytes` of the calling thread's stack, so that they meet no page fault later.
/// Stops short of the end of the stack; returns how many bytes it touched.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::size_t prefault_stack(std::size_t bytes);

/// Touches `bytes` of the heap that serves the calling thread, so that its next allocations meet no
/// page fault. With glibc each thread has a heap of its own (an arena) until there are 8 per CPU;
/// `prefault_heap` reaches only the main one. Keeps nothing unless `keep_heap` was called before.
/// Returns false if there is no memory for it.
RCLRT_REALTIME_EXPORT RCLRT_SETUP bool prefault_thread_heap(std::size_t bytes) noexcept;

/// Brings code and data of the program and of all libraries that are loaded now into memory, as far
/// as they are mapped: without it the first call of a function may wait for a page. Nothing is left
/// to do once `lock_memory` has succeeded. Libraries that are loaded later need another call.
/// Returns how many bytes are in memory now.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::size_t prefault_libraries() noexcept;

}  // namespace rclrt::realtime
