// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/scheduling.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <rclrt/text/number.hpp>
#include <stdexcept>
#include <system_error>

#include "cpu_set.hpp"
#include "native_scheduling.hpp"
#include "proc_task.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/throw_errno.hpp"
#include "refusal.hpp"

namespace rclrt::realtime {

namespace {

std::string join(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return text;
}

std::vector<int> cpus_of_caller() {
  CpuSet set;
  if (sched_getaffinity(0, set.bytes(), set.get()) != 0) {
    throw_errno("reading the CPU affinity");
  }
  return set.cpus();
}

/// Returns all CPUs on which a thread of this process may run. To find out, a short-lived thread
/// requests all CPUs and reads which of them the kernel granted.
std::vector<int> grantable_cpus() {
  std::vector<int> cpus;
  Thread({.name = "which CPUs?"}, [&cpus] {
    const CpuSet all = CpuSet::all();
    sched_setaffinity(0, all.bytes(), all.get());
    cpus = cpus_of_caller();
  }).join();
  return cpus;
}

bool holds_all(const std::vector<int>& allowed, const std::vector<int>& cpus) {
  return std::all_of(cpus.begin(), cpus.end(), [&](int cpu) {
    return std::binary_search(allowed.begin(), allowed.end(), cpu);
  });
}

}  // namespace

const char* to_string(Policy policy) noexcept RCLRT_NONBLOCKING {
  switch (policy) {
    case Policy::kFifo:
      return "SCHED_FIFO";
    case Policy::kRoundRobin:
      return "SCHED_RR";
    case Policy::kDeadline:
      return "SCHED_DEADLINE";
    case Policy::kOther:
      break;
  }
  return "SCHED_OTHER";
}

std::optional<std::string> why_no_realtime(int priority) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // A sanitizer's allocator has spin locks. If a less urgent thread is preempted inside it, a more
  // urgent thread on the same CPU spins for ever.
  return "SCHED_FIFO at priority " + std::to_string(priority) +
         " is not used in a sanitizer's build, because its run-time library has spin locks";
#else
  const int error = try_realtime_thread(Policy::kFifo, priority);
  if (error == 0) {
    return std::nullopt;
  }
  return "SCHED_FIFO at priority " + std::to_string(priority) +
         (error == EPERM ? " is not permitted: "
                         : " is not available: " + std::generic_category().message(error) + "; ") +
         explain_refusal({Policy::kFifo, priority}, error);
#endif
}

std::optional<std::string> why_refused(const Scheduling& scheduling) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (scheduling.policy != Policy::kOther) {
    return std::string(to_string(scheduling.policy)) +
           " is not used in a sanitizer's build, because its run-time library has spin locks";
  }
#endif
  try {
    Thread({.name = "permission", .scheduling = scheduling}, [] {}).join();
  } catch (const std::exception& error) {
    return error.what();
  }
  return std::nullopt;
}

Scheduling most_urgent_permitted() {
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  for (const rlim_t priority : {rlim_t{99}, std::min<rlim_t>(limit.rlim_cur, 98)}) {
    const Scheduling scheduling{Policy::kFifo, static_cast<int>(priority)};
    if (priority != 0 && !why_refused(scheduling)) {
      return scheduling;
    }
  }
  return {};
}

std::vector<int> allowed_cpus() { return cpus_of_caller(); }

void require_allowed_cpus(const std::vector<int>& cpus) {
  if (holds_all(allowed_cpus(), cpus)) {
    return;  // the usual case: no thread is needed
  }
  const std::vector<int> allowed = grantable_cpus();
  for (const int cpu : cpus) {
    if (!std::binary_search(allowed.begin(), allowed.end(), cpu)) {
      throw std::invalid_argument("CPU " + std::to_string(cpu) +
                                  " cannot be used by this process: choose from " + join(allowed));
    }
  }
}

std::string to_string(const Scheduling& scheduling) {
  std::string text = describe(scheduling);
  if (!scheduling.cpus.empty()) {
    text += scheduling.cpus.size() == 1 ? " on CPU " : " on CPUs ";
    text += join(scheduling.cpus);
  }
  return text;
}

void apply_scheduling(pid_t tid, const Scheduling& scheduling) {
  if (!scheduling.cpus.empty()) {
    require_allowed_cpus(scheduling.cpus);
    const CpuSet set(scheduling.cpus);
    if (sched_setaffinity(tid, set.bytes(), set.get()) != 0) {
      throw_errno("setting the CPU affinity");
    }
  }
  if (const int error = set_native_scheduling(tid, scheduling)) {
    throw_refused("", scheduling, error);
  }
}

std::optional<Scheduling> read_scheduling(pid_t tid) {
  const pid_t id = tid == 0 ? gettid() : tid;
  const auto stat = parse_proc_stat(read_task_file(id, "stat"));
  const auto cpus = parse_allowed_cpus(read_task_file(id, "status"));
  if (!stat || !cpus) {
    return std::nullopt;
  }
  Scheduling scheduling{policy_of(stat->policy), stat->realtime_priority, *cpus};
  if (scheduling.policy == Policy::kOther) {
    scheduling.nice = stat->nice;
  }
  if (scheduling.policy == Policy::kDeadline) {
    NativeAttributes attributes;  // /proc has the reservation only in debugging kernels
    if (get_native_scheduling(id, attributes) != 0) {
      return std::nullopt;
    }
    scheduling.reservation = {std::chrono::nanoseconds(attributes.runtime_ns),
                              std::chrono::nanoseconds(attributes.deadline_ns),
                              std::chrono::nanoseconds(attributes.period_ns)};
  }
  return scheduling;
}

std::vector<pid_t> thread_ids() {
  std::vector<pid_t> ids;
  // A range-based loop would throw if the directory cannot be read any further. This loop does not:
  // it ends, and the threads read until then are returned.
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/task", error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    ids.push_back(text::parse_number<pid_t>(name).value_or(0));
    entry.increment(error);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string thread_name(pid_t tid) {
  const std::string name = read_task_file(tid == 0 ? gettid() : tid, "comm");
  return name.substr(0, name.find('\n'));
}

}  // namespace rclrt::realtime
