// SPDX-License-Identifier: Apache-2.0
// The threads of the process, the state of each, and the step that started it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace rclrt::timer_study {

/// The state of a thread from /proc/self/task/TID/stat, as ps shows it.
struct ThreadState {
  pid_t tid = 0;
  std::string step;    ///< "main", "init", "node 1", ...: when it was first found
  std::string policy;  ///< as ps: TS, FF, RR, B, IDL, DLN
  int priority = 0;    ///< ps's pri: higher is more urgent
  int nice = 0;
  int rt_priority = 0;  ///< 0 without a real-time policy
  std::string name;
  int cpu = 0;  ///< on which it ran last

  bool realtime() const { return policy == "FF" || policy == "RR"; }
};

/// Records the step that started each thread of this process.
class ThreadList {
 public:
  /// Makes the list; the calling thread is the main one.
  ThreadList();

  /// Finds the threads of this process that appeared since the last call, and records that `step`
  /// started them. Returns their number.
  std::size_t end_step(const std::string& step);

  /// Reads the name and the scheduling of all threads of this process, in the order of their thread
  /// ids. Threads that have ended are left out. Threads that appeared since the last end_step()
  /// have the step "later".
  std::vector<ThreadState> read() const;

 private:
  struct Known {
    pid_t tid;
    std::string step;
  };
  std::vector<Known> known_;
};

/// Reads one line of a stat file. Throws std::runtime_error if it is not such a line.
ThreadState parse_thread_stat(const std::string& line);

/// Prints the threads with the columns of `ps -em -o pid,tid,policy,pri,ni,rtprio,comm,psr`.
void print_threads(std::FILE* stream, const std::vector<ThreadState>& threads);

}  // namespace rclrt::timer_study
