// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/scheduling.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "cpu_set.hpp"
#include "native_policy.hpp"

namespace rclrt::realtime {

namespace {

std::string permission_fix(int priority) {
  return "add \"rtprio " + std::to_string(priority) +
         "\" for this user in /etc/security/limits.d and log in again, or run with CAP_SYS_NICE";
}

std::string join(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return text;
}

}  // namespace

const char* to_string(Policy policy) noexcept {
  switch (policy) {
    case Policy::kFifo:
      return "SCHED_FIFO";
    case Policy::kRoundRobin:
      return "SCHED_RR";
    case Policy::kOther:
      break;
  }
  return "SCHED_OTHER";
}

std::optional<std::string> why_no_realtime(int priority) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // A less urgent thread that is preempted inside the sanitizer's allocator keeps a more urgent one
  // spinning on the same CPU for ever.
  return "SCHED_FIFO at priority " + std::to_string(priority) +
         " is not used in a sanitizer's build, whose run-time library has spin locks";
#else
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  sched_param parameters{};
  parameters.sched_priority = priority;
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  int error = pthread_attr_setschedparam(&attributes, &parameters);
  pthread_t thread{};
  if (error == 0) {
    error = pthread_create(&thread, &attributes, [](void*) -> void* { return nullptr; }, nullptr);
  }
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    pthread_join(thread, nullptr);
    return std::nullopt;
  }
  if (error == EPERM) {
    return "SCHED_FIFO at priority " + std::to_string(priority) +
           " is not permitted: " + permission_fix(priority);
  }
  return "SCHED_FIFO at priority " + std::to_string(priority) +
         " is not available: " + std::generic_category().message(error) +
         "; use a priority from 1 to 99";
#endif
}

std::vector<int> allowed_cpus() {
  CpuSet set;
  if (sched_getaffinity(0, set.bytes(), set.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "reading the CPU affinity");
  }
  return set.cpus();
}

void require_allowed_cpus(const std::vector<int>& cpus) {
  const std::vector<int> allowed = allowed_cpus();
  for (const int cpu : cpus) {
    if (!std::binary_search(allowed.begin(), allowed.end(), cpu)) {
      throw std::invalid_argument("CPU " + std::to_string(cpu) +
                                  " cannot be used by this process: choose from " + join(allowed));
    }
  }
}

void apply_scheduling(pid_t tid, const Scheduling& scheduling) {
  if (!scheduling.cpus.empty()) {
    require_allowed_cpus(scheduling.cpus);
    const CpuSet set(scheduling.cpus);
    if (sched_setaffinity(tid, set.bytes(), set.get()) != 0) {
      throw std::system_error(errno, std::generic_category(), "setting the CPU affinity");
    }
  }
  sched_param parameters{};
  parameters.sched_priority = scheduling.priority;
  if (sched_setscheduler(tid, native_policy(scheduling.policy), &parameters) != 0) {
    const int error = errno;
    std::string action = std::string("setting ") + to_string(scheduling.policy) + " priority " +
                         std::to_string(scheduling.priority);
    if (error == EPERM) {
      action += " (" + permission_fix(scheduling.priority) + ")";
    }
    throw std::system_error(error, std::generic_category(), action);
  }
}

std::optional<Scheduling> read_scheduling(pid_t tid) {
  Scheduling scheduling;
  const int policy = sched_getscheduler(tid);
  sched_param parameters{};
  CpuSet set;
  if (policy < 0 || sched_getparam(tid, &parameters) != 0 ||
      sched_getaffinity(tid, set.bytes(), set.get()) != 0) {
    return std::nullopt;
  }
  // The kernel may add SCHED_RESET_ON_FORK to the policy.
  switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_FIFO:
      scheduling.policy = Policy::kFifo;
      break;
    case SCHED_RR:
      scheduling.policy = Policy::kRoundRobin;
      break;
    default:
      scheduling.policy = Policy::kOther;
  }
  scheduling.priority = parameters.sched_priority;
  scheduling.cpus = set.cpus();
  return scheduling;
}

std::vector<pid_t> thread_ids() {
  std::vector<pid_t> ids;
  std::error_code ignored;  // a thread may end while we read: it is then simply not listed
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    ids.push_back(static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10)));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string thread_name(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace rclrt::realtime
