// SPDX-License-Identifier: Apache-2.0
// The data of /proc about a thread.
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

/// Parses the text of /proc/<pid>/task/<tid>/stat; see proc(5). Returns std::nullopt for any other
/// text.
std::optional<ProcStat> parse_proc_stat(std::string_view text);

/// Parses a list such as "0-2,5", in ascending order. Returns std::nullopt for any other text.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// Parses the list after "Cpus_allowed_list:" in the text of /proc/<pid>/task/<tid>/status.
std::optional<std::vector<int>> parse_allowed_cpus(std::string_view status);

/// Returns the content of a file below /proc/self/task/<tid>/; empty if the thread has ended.
std::string read_task_file(pid_t tid, const char* name);

}  // namespace rclrt::realtime
