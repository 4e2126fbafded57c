// SPDX-License-Identifier: Apache-2.0
// The C library's list of the threads of this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>

namespace rclrt::realtime {

/// A thread as pthread_create was asked for it.
struct StartedThread {
  const void* function = nullptr;
  const void* argument = nullptr;

  bool operator==(const StartedThread&) const = default;
};

using StartedThreads = std::map<pid_t, StartedThread>;

/// Returns the threads that pthread_create has started, by thread id; what begins or ends meanwhile
/// may be missing. Empty if the list changes all the time, and in builds without libthread_db
/// (RCLRT_THREAD_ORIGINS). Thread-safe.
StartedThreads read_started_threads();

/// Reads memory of this process that may not be mapped (any more), which is an error then. Of the
/// own process that needs no permission; /proc/self/mem could not be opened by one with
/// capabilities.
bool read_memory(const void* address, void* to, std::size_t size);

template <typename T>
std::optional<T> read_at(const void* address) {
  T value{};
  return read_memory(address, static_cast<void*>(&value), sizeof value) ? std::optional(value)
                                                                        : std::nullopt;
}

}  // namespace rclrt::realtime
