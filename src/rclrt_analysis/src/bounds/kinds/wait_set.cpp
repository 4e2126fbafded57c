// SPDX-License-Identifier: Apache-2.0
// Ready sets, in any order.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kWaitSet{
    .order = Workload::Order::kAnyToTheEnd,
    .bound_core = &holistic_ready_sets,
    .skips = true,
};

}  // namespace rclrt::analysis::detail
