// SPDX-License-Identifier: Apache-2.0
#include "virtual_time.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rclrt::simulator {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// Above all threads of an executor.
constexpr int kMostUrgent = 98;

using Syscall = long (*)(long, ...);

/// Returns libc's function of this name.
template <typename F>
F of_libc(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));  // NOLINT(*-reinterpret-cast)
}

Syscall libc_syscall() {
  static const auto kFunction = of_libc<Syscall>("syscall");
  return kFunction;
}

/// The bit of waits without a time: the clock wakes none of them.
constexpr std::uint32_t kUntimed = std::uint32_t{1} << 31U;

/// A thread that waits on a futex until a time.
struct Sleeper {
  const void* futex = nullptr;  // null: this place is free
  std::int64_t deadline_ns = 0;
  std::uint64_t number = 0;  // in order of falling asleep
  bool is_due = false;       // was woken by the clock
};

std::mutex mutex;                  // of all below but `is_active`
std::array<Sleeper, 31> sleepers;  // the index is the bit by which the thread wakes
std::int64_t now_ns = 0;           // absolute
std::uint64_t next_number = 0;
std::atomic<bool> is_active{false};

std::int64_t next_deadline_ns() {
  std::int64_t next_ns = kNever;
  for (const Sleeper& each : sleepers) {
    if (each.futex != nullptr && !each.is_due) {
      next_ns = std::min(next_ns, each.deadline_ns);
    }
  }
  return next_ns;
}

/// Marks the threads of which the time has come. Returns them in order of time and falling asleep.
std::vector<std::size_t> take_due() {
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < sleepers.size(); ++i) {
    Sleeper& each = sleepers[i];
    if (each.futex != nullptr && !each.is_due && each.deadline_ns <= now_ns) {
      each.is_due = true;
      due.push_back(i);
    }
  }
  std::ranges::sort(due, {}, [](std::size_t i) {
    return std::pair(sleepers[i].deadline_ns, sleepers[i].number);
  });
  return due;
}

/// Sets the scheduling of the calling thread. Calls the kernel, because libc remembers what was set
/// through it.
void set_scheduling(int policy, const sched_param& parameters) {
  if (sched_setscheduler(0, policy, &parameters) != 0) {
    throw std::runtime_error("virtual time needs permission for SCHED_FIFO");
  }
}

/// Wakes all of them before any can run: it is more urgent meanwhile. The kernel then puts the
/// calling thread before others of its priority, like a thread that was preempted.
void wake(const std::vector<std::size_t>& due) {
  if (due.empty()) {
    return;
  }
  const int policy = sched_getscheduler(0);
  sched_param own{};
  sched_getparam(0, &own);
  set_scheduling(SCHED_FIFO, {.sched_priority = kMostUrgent});
  for (const std::size_t i : due) {
    libc_syscall()(SYS_futex, sleepers[i].futex, FUTEX_WAKE_BITSET_PRIVATE, 1, nullptr, nullptr,
                   std::uint32_t{1} << i);
  }
  set_scheduling(policy, own);
}

/// Waits on the futex until the virtual time.
long wait_until(const void* futex, std::uint32_t value, std::int64_t deadline_ns) {
  std::size_t place = 0;
  {
    const std::scoped_lock lock(mutex);
    if (deadline_ns <= now_ns) {
      errno = ETIMEDOUT;
      return -1;
    }
    while (place < sleepers.size() && sleepers[place].futex != nullptr) {
      ++place;
    }
    if (place == sleepers.size()) {
      errno = EAGAIN;  // the caller tries again
      return -1;
    }
    sleepers[place] = {futex, deadline_ns, next_number++};
  }
  const long result = libc_syscall()(SYS_futex, futex, FUTEX_WAIT_BITSET_PRIVATE, value, nullptr,
                                     nullptr, std::uint32_t{1} << place);
  const int error = errno;
  const std::scoped_lock lock(mutex);
  const bool is_due = std::exchange(sleepers[place], {}).is_due;
  errno = is_due ? ETIMEDOUT : error;
  return is_due ? -1 : result;
}

/// Returns whether a thread of the process other than this one runs or may run.
bool others_run() {
  const std::string own = std::to_string(libc_syscall()(SYS_gettid));
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (task.path().filename() != own && name_end != std::string::npos &&
        (text[name_end + 2] == 'R' || text[name_end + 2] == 'D')) {
      return true;
    }
  }
  return false;
}

std::int64_t to_ns(const timespec& time) { return time.tv_sec * kSecond_ns + time.tv_nsec; }

}  // namespace

VirtualTime::VirtualTime() {
  const std::scoped_lock lock(mutex);
  simulator::now_ns = kBegin_ns;
  is_active = true;
}

VirtualTime::~VirtualTime() { is_active = false; }

std::int64_t VirtualTime::now_ns() const {
  const std::scoped_lock lock(mutex);
  return simulator::now_ns - kBegin_ns;
}

void VirtualTime::work(std::int64_t work_ns) {
  while (work_ns > 0) {
    std::vector<std::size_t> due;
    {
      const std::scoped_lock lock(mutex);
      const std::int64_t until_next =
          std::max<std::int64_t>(0, next_deadline_ns() - simulator::now_ns);
      const std::int64_t step = std::min(work_ns, until_next);
      simulator::now_ns += step;
      work_ns -= step;
      if (work_ns > 0) {
        due = take_due();
      }
    }
    wake(due);
  }
}

void VirtualTime::run_until(std::int64_t end_ns) {
  for (;;) {
    while (others_run()) {
      sched_yield();
    }
    std::vector<std::size_t> due;
    {
      const std::scoped_lock lock(mutex);
      const std::int64_t next_ns = next_deadline_ns();
      if (next_ns == kNever && simulator::now_ns == kBegin_ns) {
        continue;  // the threads have not started yet
      }
      if (next_ns >= kBegin_ns + end_ns) {
        return;
      }
      simulator::now_ns = std::max(simulator::now_ns, next_ns);
      due = take_due();
    }
    wake(due);
  }
}

}  // namespace rclrt::simulator

// The functions of libc that the engine calls.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name, performance-no-int-to-ptr)

extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock,
                                                            timespec* time) noexcept {
  using namespace rclrt::simulator;  // NOLINT(*-using-directive)
  if (clock == CLOCK_MONOTONIC && is_active) {
    const std::scoped_lock lock(mutex);
    *time = {.tv_sec = now_ns / kSecond_ns, .tv_nsec = now_ns % kSecond_ns};
    return 0;
  }
  static const auto kFunction = of_libc<decltype(&::clock_gettime)>("clock_gettime");
  return kFunction(clock, time);
}

extern "C" [[gnu::visibility("default")]] int clock_nanosleep(clockid_t clock, int flags,
                                                              const timespec* until,
                                                              timespec* remaining) {
  using namespace rclrt::simulator;  // NOLINT(*-using-directive)
  if (clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME && is_active) {
    const std::uint32_t word = 0;
    while (errno = 0, wait_until(&word, 0, to_ns(*until)) == 0 || errno != ETIMEDOUT) {
    }
    return 0;
  }
  static const auto kFunction = of_libc<decltype(&::clock_nanosleep)>("clock_nanosleep");
  return kFunction(clock, flags, until, remaining);
}

extern "C" [[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
  using namespace rclrt::simulator;  // NOLINT(*-using-directive)
  std::array<long, 6> arguments{};
  va_list list;
  va_start(list, number);
  for (long& each : arguments) {
    each = va_arg(list, long);
  }
  va_end(list);
  if (number == SYS_futex && static_cast<int>(arguments[1]) == FUTEX_WAIT_BITSET_PRIVATE &&
      is_active) {
    const auto* const timeout = reinterpret_cast<const timespec*>(arguments[3]);
    if (timeout != nullptr) {
      return wait_until(reinterpret_cast<const void*>(arguments[0]),
                        static_cast<std::uint32_t>(arguments[2]), to_ns(*timeout));
    }
    arguments[5] = kUntimed;
  }
  return libc_syscall()(number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4], arguments[5]);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name, performance-no-int-to-ptr)
