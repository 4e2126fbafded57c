// SPDX-License-Identifier: Apache-2.0
#include "thread_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <rclrt/text/number.hpp>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::timer_study {

namespace {

// Fields of proc(5) stat, counted from 1.
constexpr std::size_t kFirstAfterName = 3;
constexpr std::size_t kPriority = 18;
constexpr std::size_t kNice = 19;
constexpr std::size_t kProcessor = 39;
constexpr std::size_t kRtPriority = 40;
constexpr std::size_t kPolicy = 41;
constexpr int kPsPriorityOfNice0 = 39;  // ps: pri = 39 - priority

/// Returns the name that ps has for a policy of sched(7).
std::string policy_name(int policy) {
  static const std::vector<std::string> kNames{"TS", "FF", "RR", "B", "ISO", "IDL", "DLN"};
  const auto index = static_cast<std::size_t>(policy);
  return index < kNames.size() ? kNames[index] : "?";
}

}  // namespace

ThreadState parse_thread_stat(const std::string& line) {
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');  // a name may contain one
  if (open == std::string::npos || close == std::string::npos || close < open) {
    throw std::runtime_error("not a stat line of /proc: \"" + line + "\"");
  }
  std::istringstream rest(line.substr(close + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  if (fields.size() <= kPolicy - kFirstAfterName) {
    throw std::runtime_error("a stat line of /proc ends early: \"" + line + "\"");
  }
  const auto number = [&line](std::string_view field) {
    const auto value = text::parse_number<int>(field);
    if (!value) {
      throw std::runtime_error("not a stat line of /proc: \"" + line + "\"");
    }
    return *value;
  };
  const auto field = [&](std::size_t index) { return number(fields[index - kFirstAfterName]); };
  return {.tid = number(line.substr(0, line.find(' '))),
          .policy = policy_name(field(kPolicy)),
          .priority = kPsPriorityOfNice0 - field(kPriority),
          .nice = field(kNice),
          .rt_priority = field(kRtPriority),
          .name = line.substr(open + 1, close - open - 1),
          .cpu = field(kProcessor)};
}

ThreadList::ThreadList() {
  for (const pid_t tid : realtime::thread_ids()) {
    known_.push_back({tid, tid == getpid() ? "main" : "before"});
  }
}

std::size_t ThreadList::end_step(const std::string& step) {
  std::size_t count = 0;
  for (const pid_t tid : realtime::thread_ids()) {
    const auto is_it = [tid](const Known& each) { return each.tid == tid; };
    if (std::none_of(known_.begin(), known_.end(), is_it)) {
      known_.push_back({tid, step});
      ++count;
    }
  }
  return count;
}

std::vector<ThreadState> ThreadList::read() const {
  std::vector<ThreadState> result;
  for (const pid_t tid : realtime::thread_ids()) {
    std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
    std::string line;
    if (!std::getline(file, line)) {
      continue;  // it has ended
    }
    ThreadState state = parse_thread_stat(line);
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [tid](const Known& each) { return each.tid == tid; });
    state.step = found == known_.end() ? "later" : found->step;
    result.push_back(std::move(state));
  }
  return result;
}

void print_threads(std::FILE* stream, const std::vector<ThreadState>& threads) {
  std::fprintf(stream, "%7s %7s POL PRI  NI RTPRIO COMMAND         PSR  STARTED BY\n", "PID",
               "TID");
  for (const ThreadState& each : threads) {
    const std::string nice = each.realtime() ? "-" : std::to_string(each.nice);
    const std::string priority = each.realtime() ? std::to_string(each.rt_priority) : "-";
    std::fprintf(stream, "%7d %7d %-3s %3d %3s %6s %-15s %3d  %s\n", getpid(), each.tid,
                 each.policy.c_str(), each.priority, nice.c_str(), priority.c_str(),
                 each.name.c_str(), each.cpu, each.step.c_str());
  }
}

}  // namespace rclrt::timer_study
