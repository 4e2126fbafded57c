// SPDX-License-Identifier: Apache-2.0
// The same two latencies under an executor.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rclrt/context.hpp"
#include "samples.hpp"

namespace rclrt::bench {

/// A timer of `period_ns`: nominal release to the first instruction of its callback.
void measure_timer(const std::string& executor, int cpu, const std::shared_ptr<Context>& context,
                   std::int64_t period_ns, std::size_t count, Samples& into);

/// A timer publishes to a more urgent callback: from before the publish to the first instruction
/// of that callback.
void measure_publish(const std::string& executor, int cpu, const std::shared_ptr<Context>& context,
                     std::int64_t period_ns, std::size_t count, Samples& into);

}  // namespace rclrt::bench
