// SPDX-License-Identifier: Apache-2.0
// A thread that the C library does not know, so its origin cannot be found.
#pragma once

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace rclrt::realtime::test {

/// Runs until the end of the scope. Only one may exist at a time, because there is one stack for
/// it. It calls nothing, not even a system call: it has no thread-local memory of its own, so a
/// sanitizer's interceptor would take it for the thread that started it.
class RawThread {
 public:
  RawThread() {
    end_ = 0;
    tid_ = clone(
        [](void*) -> int {
          while (end_ == 0) {
          }
          return 0;  // the C library's clone() ends only this thread
        },
        stack_.data() + stack_.size(),
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, nullptr);
  }
  ~RawThread() {
    end_ = 1;
    while (tid_ > 0 && tgkill(getpid(), tid_, 0) == 0) {  // the next one uses its stack
      sched_yield();
    }
  }
  RawThread(const RawThread&) = delete;
  RawThread& operator=(const RawThread&) = delete;

  pid_t tid() const { return tid_; }

 private:
  alignas(16) inline static std::array<char, 64 * 1024> stack_;
  inline static std::atomic<int> end_{0};
  pid_t tid_ = 0;
};

}  // namespace rclrt::realtime::test
