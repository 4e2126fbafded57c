// SPDX-License-Identifier: Apache-2.0
// Which library started each thread of the process, and what the thread runs.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// What a thread was started to run.
struct ThreadOrigin {
  /// The file that has this code, without its folder: a shared library or the program. Of a thread
  /// that std::thread, std::async, boost::thread or Thread starts, the file with the class of what
  /// it runs, not the library of these classes. Where several files have that class, for it stands
  /// in a header, it is the first of them that was loaded: then rely on `function`. Empty: not
  /// known.
  std::string library;
  /// The function with its arguments' types, or for std::thread and the like the type of what it
  /// runs, as "std::thread::_State_impl<...>". Empty: not known, as for a function without a
  /// symbol.
  std::string function;

  bool operator==(const ThreadOrigin&) const = default;
};

/// Returns the origins of the threads that exist now, by thread id. Reads the C library's list of
/// threads through libthread_db, as a debugger does, without stopping a thread. What starts or ends
/// meanwhile may be missing; if the list changes all the time, all threads but the first may be. A
/// sanitizer starts threads by a function of its own, which then is the origin. Needs glibc.
/// Thread-safe.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::map<pid_t, ThreadOrigin> thread_origins();

}  // namespace rclrt::realtime
