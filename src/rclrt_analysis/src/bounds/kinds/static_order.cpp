// SPDX-License-Identifier: Apache-2.0
// Ready sets, in any order: the bounds are those of a wait set.
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

constinit const KindBounds kinds::kStaticOrder{
    .order = Workload::Order::kAnyToTheEnd,
    .bound_core = &holistic_ready_sets,
    .pool = Pool::kSingle,
};

}  // namespace rclrt::analysis::detail
