// SPDX-License-Identifier: Apache-2.0
// What /proc tells of a thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rclrt::realtime {

struct ProcStat {
  int nice = 0;
  int realtime_priority = 0;
  int policy = 0;  ///< the kernel's number
  bool operator==(const ProcStat&) const = default;
};

/// The text of /proc/<pid>/task/<tid>/stat; see proc(5). Nothing when it is not such a text.
std::optional<ProcStat> parse_proc_stat(std::string_view text);

/// "0-2,5": ascending. Nothing when it is not such a list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The list after "Cpus_allowed_list:" in the text of /proc/<pid>/task/<tid>/status.
std::optional<std::vector<int>> parse_allowed_cpus(std::string_view status);

/// A file below /proc/self/task/<tid>/; empty when the thread has ended.
std::string read_task_file(pid_t tid, const char* name);

}  // namespace rclrt::realtime
