// SPDX-License-Identifier: Apache-2.0
// Which threads the process has, what the kernel says of each, and at which step each came.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace rclrt::timer_study {

/// What /proc/self/task/TID/stat says of a thread, as ps shows it.
struct ThreadState {
  pid_t tid = 0;
  std::string step;    ///< "main", "init", "node 1", ...: when it was first seen
  std::string policy;  ///< as ps: TS, FF, RR, B, IDL, DLN
  int priority = 0;    ///< ps's pri: higher is more urgent
  int nice = 0;
  int rt_priority = 0;  ///< 0 without a real-time policy
  std::string name;
  int cpu = 0;  ///< on which it ran last

  bool realtime() const { return policy == "FF" || policy == "RR"; }
};

/// Remembers at which step each thread of this process came.
class ThreadList {
 public:
  /// The calling thread is the main one.
  ThreadList();

  /// Looks for threads that came since the last step, which this one started; returns their number.
  std::size_t end_step(const std::string& step);

  /// Reads the state of all threads now, by thread id; those that have ended are left out, and
  /// those that came since the last step belong to the step "later".
  std::vector<ThreadState> read() const;

 private:
  struct Known {
    pid_t tid;
    std::string step;
  };
  std::vector<Known> known_;
};

/// Reads one line of a stat file; throws std::runtime_error for what is none.
ThreadState parse_thread_stat(const std::string& line);

/// Prints the threads with the columns of `ps -em -o pid,tid,policy,pri,ni,rtprio,comm,psr`.
void print_threads(std::FILE* stream, const std::vector<ThreadState>& threads);

}  // namespace rclrt::timer_study
