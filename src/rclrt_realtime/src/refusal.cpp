// SPDX-License-Identifier: Apache-2.0
#include "refusal.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <rclrt/text/number.hpp>
#include <sstream>
#include <string_view>

#include "native_scheduling.hpp"
#include "permission.hpp"

namespace rclrt::realtime {

namespace {

constexpr const char* kBudgetFile = "cpu.rt_runtime_us";
constexpr const char* kPeriodFile = "cpu.rt_period_us";

std::optional<std::int64_t> read_number(const std::filesystem::path& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  std::string_view rest = line;
  return text::take_number<std::int64_t>(rest);
}

bool has_item(std::string_view list, std::string_view item) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == item) {
      return true;
    }
    if (comma == std::string_view::npos) {
      return false;
    }
    list.remove_prefix(comma + 1);
  }
}

/// Returns the path of this process's control group. `controller` selects a controller of version
/// 1; if it is empty, the group is that of version 2. The lines of the file are
/// "4:cpu,cpuacct:/group" and "0::/group".
std::optional<std::string> group_of(const std::filesystem::path& root,
                                    std::string_view controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second != std::string::npos &&
        has_item(std::string_view(line).substr(first + 1, second - first - 1), controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

/// A mount of the control groups of version 1: which group is the root of the mount, and where it
/// is mounted.
struct Mount {
  std::string group;
  std::string point;
};

std::optional<Mount> cpu_mount(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t separator = line.find(" - cgroup ");
    if (separator == std::string::npos ||
        !has_item(std::string_view(line).substr(line.rfind(' ') + 1), "cpu")) {
      continue;
    }
    std::istringstream fields(line.substr(0, separator));
    std::string skipped;
    Mount mount;
    if (fields >> skipped >> skipped >> skipped >> mount.group >> mount.point) {
      return mount;
    }
  }
  return std::nullopt;
}

int least(rlim_t limit) { return static_cast<int>(std::min<rlim_t>(limit, 99)); }

std::string at_least(const Scheduling& wanted) { return std::to_string(wanted.priority); }

/// Returns the change that permits the wanted priority. The text depends on the limits and the
/// capabilities of the process, which are in `permission`.
std::string fix_of_limit(const Scheduling& wanted, const SchedulingPermission& permission) {
  const std::string priority = at_least(wanted);
  std::string text;
  if (permission.permitted > 0) {
    const std::string most = std::to_string(permission.permitted);
    text = "the limit of this process is priority " + most + " (rtprio): use at most " + most +
           (permission.permitted > 1 ? " (top_priority: " + most + " for an executor)" : "") +
           ", or ";
  }
  if (permission.rtprio_hard >= wanted.priority) {
    return text + "run \"ulimit -r " + priority +
           "\" in the shell that starts this program, which its hard limit permits";
  }
  if (permission.root) {
    return text + "start the container with --cap-add=SYS_NICE or --ulimit rtprio=" + priority +
           ": root has no CAP_SYS_NICE here";
  }
  return text + fix_by_limit("rtprio " + priority, "LimitRTPRIO=" + priority,
                             "--ulimit rtprio=" + priority, "CAP_SYS_NICE");
}

std::string fix_of_budget(const SchedulingPermission& permission) {
  return "the control group of this process has no real-time budget (" + permission.budget_file +
         " is 0): write 950000 into it, after the same in the groups above it; for a container, "
         "start dockerd and docker run with --cpu-rt-runtime=950000";
}

/// Returns the further causes to check if limit, capability and budget permit the request.
std::string fix_of_unknown(const Scheduling& wanted, const SchedulingPermission& permission) {
  if (permission.global_us == 0) {
    return "real-time threads may not run on this machine: sysctl -w "
           "kernel.sched_rt_runtime_us=950000";
  }
  if (permission.unified_group.size() > 1) {
    return "limit and capability permit it, so the kernel has CONFIG_RT_GROUP_SCHED and the "
           "control group " +
           permission.unified_group +
           " no real-time budget, which version 2 cannot give: boot with rt_group_sched=0, or "
           "move the process to the root group; or a rootless container, where CAP_SYS_NICE does "
           "not count: start it with --ulimit rtprio=" +
           at_least(wanted);
  }
  const std::string filter =
      permission.seccomp ? "a seccomp filter is active, which may refuse it (--security-opt); "
                         : std::string();
  return filter +
         "CAP_SYS_NICE does not count in a user namespace (a rootless container): raise the limit "
         "instead, --ulimit rtprio=" +
         at_least(wanted);
}

std::string explain_realtime(const Scheduling& wanted, const SchedulingPermission& permission) {
  std::string text;
  const auto add = [&text](const std::string& obstacle) {
    text += (text.empty() ? "" : "; and ") + obstacle;
  };
  const bool permitted_by_limit = wanted.priority <= permission.rtprio;
  if (permission.permitted > 0 || !(permission.capability || permitted_by_limit)) {
    add(fix_of_limit(wanted, permission));
  }
  if (permission.budget_us == 0) {
    add(fix_of_budget(permission));
  }
  return text.empty() ? fix_of_unknown(wanted, permission) : text;
}

std::string explain_deadline(int error, const SchedulingPermission& permission) {
  switch (error) {
    case EPERM:
      return permission.capability
                 ? "leave the thread every CPU: the kernel takes no smaller set; and CAP_SYS_NICE "
                   "does not count in a user namespace (a rootless container)"
                 : "run with CAP_SYS_NICE, which no entry in limits.d replaces (a container: "
                   "--cap-add=SYS_NICE), and leave the thread every CPU: the kernel takes no "
                   "smaller set";
    case EBUSY:
      return "less runtime or a longer period: all reservations together exceed what the CPUs "
             "have to give";
    case EINVAL:
      return "choose 1024 ns <= runtime <= deadline <= period";
    default:
      return "";
  }
}

std::string explain_nice(const Scheduling& wanted) {
  const std::string nice = std::to_string(wanted.nice.value_or(0));
  return fix_by_limit("nice " + nice, "LimitNICE=" + nice,
                      "--ulimit nice=" + std::to_string(20 - wanted.nice.value_or(0)),
                      "CAP_SYS_NICE");
}

}  // namespace

std::filesystem::path realtime_budget_file(const std::filesystem::path& root) {
  const auto group = group_of(root, "cpu");
  const auto mount = cpu_mount(root);
  if (!group || !mount) {
    return {};
  }
  // A container that has no control group namespace of its own reads the host's path of its group.
  // But in its file system the mount's root already is that group.
  std::string_view below = *group;
  if (mount->group != "/" && below.starts_with(mount->group)) {
    below.remove_prefix(mount->group.size());
  }
  const std::filesystem::path point = root / std::filesystem::path(mount->point).relative_path();
  std::error_code ignored;
  for (const auto& directory :
       {point / std::filesystem::path(below).relative_path().lexically_normal(), point}) {
    if (std::filesystem::is_regular_file(directory / kBudgetFile, ignored)) {
      return directory / kBudgetFile;
    }
  }
  return {};
}

SchedulingPermission read_permission(const Scheduling& wanted, const std::filesystem::path& root) {
  SchedulingPermission result;
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  result.rtprio = least(limit.rlim_cur);
  result.rtprio_hard = least(limit.rlim_max);
  result.root = geteuid() == 0;
  result.capability = has_capability(Capability::kSysNice);
  result.seccomp = number_in_status("Seccomp:").value_or(0) == 2;
  result.global_us = read_number(root / "proc/sys/kernel/sched_rt_runtime_us");
  const std::filesystem::path budget = realtime_budget_file(root);
  if (!budget.empty()) {
    result.budget_file = budget.string();
    result.budget_us = read_number(budget);
  }
  result.unified_group = group_of(root, "").value_or("");
  const bool realtime = wanted.policy == Policy::kFifo || wanted.policy == Policy::kRoundRobin;
  if (realtime && result.rtprio > 0 && result.rtprio < wanted.priority &&
      try_realtime_thread(wanted.policy, result.rtprio) == 0) {
    result.permitted = result.rtprio;
  }
  return result;
}

std::string explain(const Scheduling& wanted, int error, const SchedulingPermission& permission) {
  if (error == EAGAIN || error == ENOMEM) {
    return "there is no room for another thread: look at the limits of threads (ulimit -u, "
           "pids.max "
           "of the control group), of address space (ulimit -v) and of locked memory (ulimit -l), "
           "or give the threads smaller stacks";
  }
  if (wanted.policy == Policy::kDeadline) {
    return explain_deadline(error, permission);
  }
  const bool realtime = wanted.policy != Policy::kOther;
  if (error == EINVAL) {
    return realtime ? "use a priority from 1 to 99"
                    : "SCHED_OTHER has no priority, and a nice value from -20 to 19";
  }
  if (error == EPERM || error == EACCES) {
    return realtime ? explain_realtime(wanted, permission) : explain_nice(wanted);
  }
  return "";
}

std::optional<std::string> realtime_limit_below(const std::filesystem::path& root) {
  constexpr std::int64_t kSecondUs = 1'000'000;
  const std::filesystem::path kernel = root / "proc/sys/kernel";
  const auto global = read_number(kernel / "sched_rt_runtime_us");
  const auto global_period = read_number(kernel / "sched_rt_period_us").value_or(kSecondUs);
  if (!global || *global < 0) {
    return std::nullopt;  // -1 also disables the budgets of groups
  }
  const auto text = [](std::int64_t runtime, std::int64_t period, const std::string& setting) {
    return std::to_string(runtime) + " us of every " + std::to_string(period) + " us, " + setting;
  };
  const std::filesystem::path file = realtime_budget_file(root);
  const auto budget = file.empty() ? std::nullopt : read_number(file);
  if (budget && *budget >= 0) {
    const auto period = read_number(file.parent_path() / kPeriodFile).value_or(kSecondUs);
    const auto share = [](std::int64_t part, std::int64_t whole) {
      return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
    };
    if (share(*budget, period) < share(*global, global_period)) {
      return text(*budget, period, file.string());
    }
  }
  return text(*global, global_period, "kernel.sched_rt_runtime_us");
}

std::optional<std::string> realtime_limit() { return realtime_limit_below("/"); }

std::string explain_refusal(const Scheduling& scheduling, int error) {
  return explain(scheduling, error, read_permission(scheduling));
}

int try_realtime_thread(Policy policy, int priority) {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) {
    return error;
  }
  sched_param parameters{};
  parameters.sched_priority = priority;
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, native_policy(policy));
  int error = pthread_attr_setschedparam(&attributes, &parameters);
  pthread_t thread{};
  if (error == 0) {
    error = pthread_create(&thread, &attributes, [](void*) -> void* { return nullptr; }, nullptr);
  }
  pthread_attr_destroy(&attributes);
  if (error == 0) {
    pthread_join(thread, nullptr);
  }
  return error;
}

}  // namespace rclrt::realtime
