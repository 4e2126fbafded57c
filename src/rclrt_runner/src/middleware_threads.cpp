// SPDX-License-Identifier: Apache-2.0
#include "middleware_threads.hpp"

#include <algorithm>

#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt::runner {

std::optional<std::string> MiddlewareThreads::apply(const model::Application& application) const {
  const auto rule = std::find_if(application.threads.begin(), application.threads.end(),
                                 [](const auto& each) { return each.name == "middleware"; });
  if (rule == application.threads.end()) {
    return std::nullopt;
  }
  std::vector<pid_t> threads = before_.new_threads();
  std::erase_if(threads, [](pid_t tid) { return realtime::thread_name(tid).starts_with("rclrt"); });
  const auto report =
      realtime::ThreadPlan{{{"*", recorder::to_realtime(rule->scheduling)}}}.apply(threads);
  const auto problems = report.problems();
  if (problems.empty()) {
    return std::nullopt;
  }
  return "middleware " + problems.front();
}

}  // namespace rclrt::runner
