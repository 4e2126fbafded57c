// SPDX-License-Identifier: Apache-2.0
// Which library started each thread of the process, and what the thread runs.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The code that a thread was started to run.
struct ThreadOrigin {
  /// The name, without folder, of the file that has the thread's code: a shared library or the
  /// program. For a thread started by std::thread, std::async, boost::thread or Thread, it is the
  /// file with the class of the callable, not the library of these classes. If several files have
  /// that class because a header defines it, it is the first of them that was loaded; then use
  /// `function` instead. Empty: not known.
  std::string library;
  /// The function with its arguments' types, or, for std::thread and similar classes, the type of
  /// the callable, such as "std::thread::_State_impl<...>". Empty: not known, for example a
  /// function without a symbol.
  std::string function;

  bool operator==(const ThreadOrigin&) const = default;
};

/// Returns the origins of the threads that exist now, by thread id. Reads the C library's list of
/// threads through libthread_db, as a debugger does, without stopping a thread. Threads that start
/// or end meanwhile may be missing; if the list changes all the time, all threads but the first may
/// be missing. A sanitizer starts threads by its own function, which then is the origin. Needs
/// glibc. Thread-safe.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::map<pid_t, ThreadOrigin> thread_origins();

}  // namespace rclrt::realtime
