// SPDX-License-Identifier: Apache-2.0
#include "require_possible.hpp"

#include <rclrt/model/priorities.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/workloads/workload.hpp"
#include "spinning.hpp"

namespace rclrt::runner {

void require_possible(const model::Application& application,
                      const std::vector<std::vector<std::size_t>>& executors,
                      const model::ExecutorChoice& choice) {
  static_cast<void>(top_priorities(application, choice.kind, may_be_realtime(application)));
  static_cast<void>(trigger_callback(application, choice));
  for (const auto& own : executors) {
    for (const std::size_t each : own) {
      realtime::require_allowed_cpus(application.executors[each].cpus);
      realtime::require_allowed_cpus(application.executors[each].scheduler_cpus);
    }
  }
  std::set<std::string> checked;
  for (const auto& callback : application.callbacks) {
    if (callback.workload && checked.insert(callback.workload->name).second) {
      try {
        workloads::make(callback.workload->name);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("callback '" + callback.id + "': " + error.what());
      }
    }
  }
}

}  // namespace rclrt::runner
