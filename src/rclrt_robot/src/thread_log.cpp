// SPDX-License-Identifier: Apache-2.0
#include "thread_log.hpp"

#include <map>
#include <vector>

#include "rclcpp_names.hpp"

namespace rclrt_robot {

namespace {

using rclrt::realtime::PlannedThread;
using rclrt::realtime::Policy;
using rclrt::realtime::UnplannedThread;

std::string describe(const rclrt::realtime::ThreadOrigin& origin) {
  if (origin.library.empty()) {
    return "of unknown origin";
  }
  return "of " + origin.library + (origin.function.empty() ? "" : " (" + origin.function + ")");
}

bool is_realtime(const UnplannedThread& thread) { return thread.found.policy != Policy::kOther; }

template <typename Thread>
std::string quoted_name(const Thread& thread) {
  return "\"" + thread.name + "\" (" + std::to_string(thread.tid) + ")";
}

void log_unplanned(const UnplannedThread& thread) {
  const char* const format = "thread %s %s has %s and no rule in the plan";
  if (is_realtime(thread)) {
    RCLCPP_WARN(logger(), format, quoted_name(thread).c_str(), describe(thread.origin).c_str(),
                to_string(thread.found).c_str());
  } else {
    RCLCPP_INFO(logger(), format, quoted_name(thread).c_str(), describe(thread.origin).c_str(),
                to_string(thread.found).c_str());
  }
}

/// Returns the names of the threads; several have their library once, without their functions.
std::string names_of(const std::vector<const PlannedThread*>& threads) {
  const PlannedThread& first = *threads.front();
  if (threads.size() == 1) {
    return "thread " + quoted_name(first) + " " + describe(first.origin);
  }
  std::string names;
  for (const PlannedThread* each : threads) {
    names += (names.empty() ? "" : ", ") + quoted_name(*each);
  }
  return std::to_string(threads.size()) + " threads of " + first.origin.library + " (" + names +
         ")";
}

}  // namespace

void ThreadLog::report(const rclrt::realtime::ThreadPlanReport& news) {
  std::map<std::pair<std::size_t, std::string>, std::vector<const PlannedThread*>> problems;
  for (const PlannedThread& thread : news.threads) {
    const std::pair key{thread.rule, thread.problem};
    if (!thread.problem.empty() && !warned_.contains(key)) {
      problems[key].push_back(&thread);
      continue;
    }
    RCLCPP_DEBUG(logger(), "thread %s %s: %s", quoted_name(thread).c_str(),
                 describe(thread.origin).c_str(),
                 (thread.problem.empty() ? to_string(thread.found) : thread.problem).c_str());
  }
  for (const auto& [key, threads] : problems) {
    RCLCPP_WARN(logger(), "%s: %s", names_of(threads).c_str(), key.second.c_str());
    warned_.insert(key);
  }
  for (const UnplannedThread& thread : news.unplanned) {
    log_unplanned(thread);
  }
}

}  // namespace rclrt_robot
