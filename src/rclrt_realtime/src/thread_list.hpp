// SPDX-License-Identifier: Apache-2.0
// The C library's list of the threads of this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>

namespace rclrt::realtime {

/// The arguments of pthread_create for a thread.
struct StartedThread {
  const void* function = nullptr;
  const void* argument = nullptr;

  bool operator==(const StartedThread&) const = default;
};

using StartedThreads = std::map<pid_t, StartedThread>;

/// Returns the threads that pthread_create has started, by thread id. Threads that start or end
/// meanwhile may be missing. The result is empty if the list changes all the time, and in builds
/// without libthread_db (RCLRT_THREAD_ORIGINS). Thread-safe.
StartedThreads read_started_threads();

/// Copies `size` bytes of this process's memory to `to`. Returns false if the memory is not mapped
/// (any more). A process may always read itself this way, but one with capabilities could not open
/// /proc/self/mem.
bool read_memory(const void* address, void* to, std::size_t size);

template <typename T>
std::optional<T> read_at(const void* address) {
  T value{};
  return read_memory(address, static_cast<void*>(&value), sizeof value) ? std::optional(value)
                                                                        : std::nullopt;
}

}  // namespace rclrt::realtime
