// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/miss_details.hpp"

#include <algorithm>

#include "entity_callback.hpp"
#include "message_age.hpp"

namespace rclrt_rclcpp {

MissDetails details_of(const engine::DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING {
  MissDetails details;
  // All callbacks of this package's executors are listeners. The shortest known run covers only
  // user code; the execution time in the blame covers the whole instance.
  const auto* const listener = dynamic_cast<const Listener*>(miss.callback);
  if (listener != nullptr && listener->responses()) {
    const std::int64_t run_ns = std::min(miss.blame.execution_ns, miss.end_ns - miss.info.start_ns);
    details.itself = {run_ns, listener->responses()->beyond_least_ns(run_ns)};
  }
  if (listener != nullptr) {
    details.before_release = listener->before_release(miss.info);
  }
  if (const MessageOrigin* const origin = MessageAge::origin_of(miss)) {
    details.origin = *origin;
  }
  return details;
}

}  // namespace rclrt_rclcpp
