// SPDX-License-Identifier: Apache-2.0
#include "traced.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <unordered_map>

#include "costs.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::bench {

namespace {

using Calls = std::atomic<std::uint64_t>;
static_assert(Calls::is_always_lock_free);

/// Memory that parent and child share.
class Shared {
 public:
  explicit Shared(std::size_t results)
      : size_(sizeof(Calls) + results * sizeof(double)),
        memory_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        count_(results) {
    if (memory_ == MAP_FAILED) {
      throw std::bad_alloc();
    }
    new (memory_) Calls(0);
  }
  ~Shared() { munmap(memory_, size_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Calls& calls() { return *static_cast<Calls*>(memory_); }
  std::span<double> results() {
    return {reinterpret_cast<double*>(static_cast<char*>(memory_) + sizeof(Calls)), count_};
  }

 private:
  const std::size_t size_;
  void* const memory_;
  const std::size_t count_;
};

[[noreturn]] void be_traced(Shared& shared, const std::function<void(std::span<double>)>& body) {
  int code = 1;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
    raise(SIGSTOP);  // the parent sets its options now
    traced_system_calls = &shared.calls();
    try {
      body(shared.results());
      code = 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "counting system calls: %s\n", error.what());
    }
  }
  _exit(code);
}

/// Continues the child from stop to stop, and counts; returns its exit status.
int trace(pid_t child, Calls& calls) {
  constexpr int kSystemCallStop = SIGTRAP | 0x80;
  std::unordered_map<pid_t, bool> inside;  // threads, and whether they are in a system call
  for (;;) {
    int status = 0;
    const pid_t stopped = waitpid(-1, &status, __WALL);
    if (stopped < 0) {
      return 1;
    }
    if (!WIFSTOPPED(status)) {
      if (stopped == child) {
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      }
      inside.erase(stopped);
      continue;
    }
    long deliver = WSTOPSIG(status);
    if (deliver == kSystemCallStop) {
      bool& in = inside[stopped];
      in = !in;
      calls.fetch_add(in ? 1 : 0);
      deliver = 0;
    } else if (deliver == SIGTRAP || !inside.contains(stopped)) {
      deliver = 0;  // a thread was created, or this is the first stop of a thread
      inside.try_emplace(stopped, false);
    }
    ptrace(PTRACE_SYSCALL, stopped, nullptr, deliver);
  }
}

}  // namespace

std::string run_traced(std::vector<double>& results,
                       const std::function<void(std::span<double> results)>& body) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "not under a sanitizer";
#endif
  Shared shared(results.size());
  std::copy(results.begin(), results.end(), shared.results().begin());
  const pid_t child = fork();
  if (child < 0) {
    return std::string("no child process: ") + std::strerror(errno);
  }
  if (child == 0) {
    be_traced(shared, body);
  }
  int status = 0;
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status) ||
      ptrace(PTRACE_SETOPTIONS, child, nullptr, options) != 0 ||
      ptrace(PTRACE_SYSCALL, child, nullptr, 0L) != 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, __WALL);
    return "ptrace is not permitted here (a container needs CAP_SYS_PTRACE)";
  }
  // More urgent than the traced threads; otherwise a stopped thread would delay other threads, too.
  const bool urgent = !realtime::why_no_realtime(97);
  if (urgent) {
    realtime::apply_scheduling(0, {realtime::Policy::kFifo, 97});
  }
  const int code = trace(child, shared.calls());
  if (urgent) {
    realtime::apply_scheduling(0, {realtime::Policy::kOther, 0});
  }
  if (code != 0) {
    return "the traced process did not end well";
  }
  std::copy(shared.results().begin(), shared.results().end(), results.begin());
  return {};
}

}  // namespace rclrt::bench
