// SPDX-License-Identifier: Apache-2.0
#include "proc_task.hpp"

#include <fstream>
#include <rclrt/text/number.hpp>
#include <string>

namespace rclrt::realtime {

namespace {

/// Removes the part before the separator from the front of `text` and returns it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  // Field 2, the name, is in parentheses and may itself contain blanks and parentheses.
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(name_end + 2);
  std::optional<int> nice;
  std::optional<int> priority;
  std::optional<int> policy;
  for (int field = 3; field <= 41 && !text.empty(); ++field) {
    const std::string_view value = take(text, ' ');
    if (field == 19) {
      nice = text::parse_number<int>(value);
    } else if (field == 40) {
      priority = text::parse_number<int>(value);
    } else if (field == 41) {
      policy = text::parse_number<int>(value.substr(0, value.find('\n')));
    }
  }
  if (!nice || !priority || !policy) {
    return std::nullopt;
  }
  return ProcStat{*nice, *priority, *policy};
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int kMostCpus = 8192;  // NR_CPUS of the largest kernels
  std::vector<int> cpus;
  while (!text.empty()) {
    std::string_view range = take(text, ',');
    const bool is_range = range.find('-') != std::string_view::npos;
    const auto first = text::parse_number<int>(take(range, '-'));
    const auto last = is_range ? text::parse_number<int>(range) : first;
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) {
      return std::nullopt;
    }
    for (int cpu = *first; cpu <= *last; ++cpu) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::optional<std::vector<int>> parse_allowed_cpus(std::string_view status) {
  constexpr std::string_view kKey = "Cpus_allowed_list:\t";
  const std::size_t begin = status.find(kKey);
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  status.remove_prefix(begin + kKey.size());
  return parse_cpu_list(status.substr(0, status.find('\n')));
}

std::string read_task_file(pid_t tid, const char* name) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/" + name);
  // Not with an iterator over the buffer, which throws if the thread ends between open and read.
  std::string text;
  std::getline(file, text, '\0');
  return text;
}

}  // namespace rclrt::realtime
