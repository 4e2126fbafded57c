// SPDX-License-Identifier: Apache-2.0
#include "native_scheduling.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime {

namespace {

constexpr std::uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK

std::string microseconds(std::chrono::nanoseconds time) {
  const auto count = time.count();
  std::string text = std::to_string(count / 1000);
  if (count % 1000 != 0) {
    text += "." + std::to_string(1000 + count % 1000).substr(1);
  }
  return text + " us";
}

}  // namespace

int native_policy(Policy policy) {
  switch (policy) {
    case Policy::kFifo:
      return SCHED_FIFO;
    case Policy::kRoundRobin:
      return SCHED_RR;
    case Policy::kDeadline:
      return SCHED_DEADLINE;
    case Policy::kOther:
      break;
  }
  return SCHED_OTHER;
}

Policy policy_of(int native) {
  switch (native & ~SCHED_RESET_ON_FORK) {
    case SCHED_FIFO:
      return Policy::kFifo;
    case SCHED_RR:
      return Policy::kRoundRobin;
    case SCHED_DEADLINE:
      return Policy::kDeadline;
    default:
      return Policy::kOther;
  }
}

int set_native_scheduling(pid_t tid, const Scheduling& scheduling) {
  NativeAttributes attributes;
  if (const int error = get_native_scheduling(tid, attributes)) {
    return error;  // the call also reads the nice value to keep
  }
  attributes.size = sizeof(attributes);
  attributes.flags = 0;
  attributes.policy = static_cast<std::uint32_t>(native_policy(scheduling.policy));
  attributes.priority = static_cast<std::uint32_t>(scheduling.priority);
  attributes.nice = scheduling.nice.value_or(attributes.nice);
  attributes.runtime_ns = attributes.deadline_ns = attributes.period_ns = 0;
  if (scheduling.policy == Policy::kDeadline) {
    // Without this flag the kernel does not permit such a thread to create threads.
    attributes.flags = kResetOnFork;
    attributes.runtime_ns = static_cast<std::uint64_t>(scheduling.reservation.runtime.count());
    attributes.deadline_ns = static_cast<std::uint64_t>(scheduling.reservation.deadline.count());
    attributes.period_ns = static_cast<std::uint64_t>(scheduling.reservation.period.count());
  }
  return syscall(SYS_sched_setattr, tid, &attributes, 0U) == 0 ? 0 : errno;
}

int get_native_scheduling(pid_t tid, NativeAttributes& attributes) {
  return syscall(SYS_sched_getattr, tid, &attributes, sizeof(attributes), 0U) == 0 ? 0 : errno;
}

std::string describe(const Scheduling& scheduling) {
  std::string text = to_string(scheduling.policy);
  switch (scheduling.policy) {
    case Policy::kFifo:
    case Policy::kRoundRobin:
      return text + " priority " + std::to_string(scheduling.priority);
    case Policy::kDeadline:
      return text + " runtime " + microseconds(scheduling.reservation.runtime) + " deadline " +
             microseconds(scheduling.reservation.deadline) + " period " +
             microseconds(scheduling.reservation.period);
    case Policy::kOther:
      break;
  }
  if (scheduling.priority != 0) {
    text += " priority " + std::to_string(scheduling.priority);
  }
  return scheduling.nice ? text + " nice " + std::to_string(*scheduling.nice) : text;
}

void throw_refused(const std::string& prefix, const Scheduling& scheduling, int error) {
  const std::string fix = explain_refusal(scheduling, error);
  // If there was no room for the thread, its scheduling was not requested yet.
  const bool no_room = error == EAGAIN || error == ENOMEM;
  throw_errno(prefix + (no_room ? "" : "setting " + describe(scheduling)) +
                  (fix.empty() ? "" : (no_room ? "" : " (") + fix + (no_room ? "" : ")")),
              error);
}

}  // namespace rclrt::realtime
