// SPDX-License-Identifier: Apache-2.0
#include "burners.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::latency {

namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20U;  // more than a core's own caches
std::uint8_t memory[kBytes];

/// Makes the kernel end this process with its parent, and goes on unless that has ended already.
void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(0);
  }
}

/// Never returns, and calls only functions that are allowed in a child of fork().
[[noreturn]] void burn(int cpu, pid_t parent) {
  end_with(parent);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
  volatile std::uint8_t* const bytes = memory;
  std::uint32_t state = 1;
  for (;;) {
    state = state * 1'664'525U + 1'013'904'223U;  // Numerical Recipes' generator
    const std::size_t place = state >> 10U;       // 22 bits: anywhere in the memory
    bytes[place] = static_cast<std::uint8_t>(bytes[place] + 1U);
  }
}

}  // namespace

Burners::Burners(std::span<const int> cpus) {
  const pid_t parent = getpid();
  processes_.reserve(cpus.size());
  for (const int cpu : cpus) {
    const pid_t child = fork();
    if (child == 0) {
      burn(cpu, parent);
    }
    if (child < 0) {
      const int error = errno;
      stop();
      realtime::throw_errno("could not start a burner process (raise `ulimit -u`, or go without)",
                            error);
    }
    processes_.push_back(child);
  }
}

Burners::~Burners() { stop(); }

Burners::Burners(Burners&& other) noexcept : processes_(std::exchange(other.processes_, {})) {}

Burners& Burners::operator=(Burners&& other) noexcept {
  std::swap(processes_, other.processes_);
  return *this;
}

void Burners::stop() noexcept {
  for (const pid_t process : processes_) {
    kill(process, SIGKILL);
  }
  for (const pid_t process : processes_) {
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  processes_.clear();
}

}  // namespace rclrt::latency
