// SPDX-License-Identifier: Apache-2.0
// Ready sets, as of a wait set, of which callbacks of a higher priority run first.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kStaticOrder{
    .order = Workload::Order::kAnyToTheEnd,
    .bound_core = &holistic_ready_sets,
    .sets_by_priority = true,
    .pool = Pool::kSingle,
};

}  // namespace rclrt::analysis::detail
