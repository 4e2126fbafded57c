// SPDX-License-Identifier: Apache-2.0
#include "middleware_threads.hpp"

#include <algorithm>
#include <exception>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::runner {

namespace {

realtime::Policy policy_of(model::ThreadPolicy policy) {
  switch (policy) {
    case model::ThreadPolicy::kFifo:
      return realtime::Policy::kFifo;
    case model::ThreadPolicy::kRoundRobin:
      return realtime::Policy::kRoundRobin;
    case model::ThreadPolicy::kOther:
      break;
  }
  return realtime::Policy::kOther;
}

/// Nothing when thread `tid` has what `wanted` states (or has ended meanwhile).
std::optional<std::string> apply_to(pid_t tid, const realtime::Scheduling& wanted) {
  const std::string name = "middleware thread \"" + realtime::thread_name(tid) + "\": ";
  try {
    realtime::apply_scheduling(tid, wanted);
  } catch (const std::exception& error) {
    if (!realtime::read_scheduling(tid)) {
      return std::nullopt;
    }
    return name + error.what();
  }
  const auto found = realtime::read_scheduling(tid);
  if (found && (found->policy != wanted.policy || found->priority != wanted.priority ||
                (!wanted.cpus.empty() && found->cpus != wanted.cpus))) {
    return name + "it has " + realtime::to_string(found->policy) + " priority " +
           std::to_string(found->priority) + " instead of what the application states";
  }
  return std::nullopt;
}

}  // namespace

MiddlewareThreads::MiddlewareThreads() : before_(realtime::thread_ids()) {}

std::optional<std::string> MiddlewareThreads::apply(const model::Application& application) const {
  const auto rule = std::find_if(application.threads.begin(), application.threads.end(),
                                 [](const auto& each) { return each.name == "middleware"; });
  if (rule == application.threads.end()) {
    return std::nullopt;
  }
  realtime::Scheduling wanted{policy_of(rule->policy), rule->priority, rule->cpus};
  std::sort(wanted.cpus.begin(), wanted.cpus.end());
  for (const pid_t tid : realtime::thread_ids()) {
    const bool is_new = !std::binary_search(before_.begin(), before_.end(), tid);
    if (is_new && !realtime::thread_name(tid).starts_with("rclrt")) {
      if (auto problem = apply_to(tid, wanted)) {
        return problem;
      }
    }
  }
  return std::nullopt;
}

}  // namespace rclrt::runner
